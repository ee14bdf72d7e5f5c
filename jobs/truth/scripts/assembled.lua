-- Note that a chapter's audio is in the store; FINISH after the last chapter (Truth.chapter_assembled).
-- ARGV: job, chapter. Returns 1, or 0 if it was noted before, if the job is final, or if the chapter has no segments
-- or unfinished ones (it was retried meanwhile: a new ASSEMBLE step follows). Error: UNKNOWNJOB job.
-- Writes: K.assembled, K.starts, K.job, K.events, K.outbox.
local job, chapter = ARGV[1], ARGV[2]
local state = state_of(job)
if not state then return unknown_job(job) end
if FINAL[state] or call('HGET', K.left .. job, chapter) ~= '0' then return 0 end
if call('SADD', K.assembled .. job, chapter) == 0 then return 0 end
call('HINCRBY', K.job .. job, 'chapters_assembled', 1)
for _, kind in ipairs({'check', 'assemble'}) do forget_starts(job, kind, chapter) end
touch(job)
emit(job, 'chapter_assembled', {chapter = tonumber(chapter)})
if all_assembled(job) then step('finish', job) end
return 1
