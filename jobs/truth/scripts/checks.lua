-- Put out the CHECK steps of parts of a complete chapter, or (no parts) its ASSEMBLE step (Truth.put_checks).
-- ARGV: job, chapter, then parts. Returns 1, or 0 if the chapter is not complete, is assembled, or the job is final.
-- What was started before came to its end: with parts the chapter's ASSEMBLE, without any its CHECKs.
-- Error: UNKNOWNJOB job. Writes: K.starts, K.job, K.outbox.
local job, chapter = ARGV[1], ARGV[2]
local state = state_of(job)
if not state then return unknown_job(job) end
if FINAL[state] or not awaits_assembly(job, chapter) then return 0 end
if #ARGV == 2 then
  forget_starts(job, 'check', chapter)
  step('assemble', job, chapter)
else
  forget_starts(job, 'assemble', chapter)
  for place = 3, #ARGV do step('check', job, chapter, ARGV[place]) end
end
return 1
