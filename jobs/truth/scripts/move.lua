-- Change a job's state by the transition table, with all that follows from it (Truth.move_job, pause, cancel).
-- ARGV: job, new state, reason. Returns {state before, how many waiting segments vanished}.
-- Errors: UNKNOWNJOB job; ILLEGALMOVE old new unfinished; SPEECH job (a speech request can be cancelled or fail only).
-- Writes: K.job, K.starts, K.ready, K.events, K.outbox, K.wake; on cancel also K.waiting, K.segments, K.suspects, K.blame.
-- A speech request that failed cannot be retried: it ends as a cancelled one, and its keys go away by themselves.
local job, new, reason = ARGV[1], ARGV[2], ARGV[3]
local old = state_of(job)
if not old then return unknown_job(job) end
if old == new then return {old, 0} end

local is_dropped = new == 'cancelled' or new == 'failed' and speech_ttl_ms(job)
if speech_ttl_ms(job) and not is_dropped then return not_for_speech(job) end
local left = unfinished(job)
local planned = call('HGET', K.job .. job, 'planned') == '1'
local possible = MOVES[old][new]
-- The table knows no segments: a job without unfinished ones cannot be queued, one with some cannot be assembled.
-- Nor chapters: a late FINISH step must not end a job one of whose chapters is being made anew.
if (new == 'queued' or new == 'running') and left == 0 then possible = false end
if new == 'assembling' and (left > 0 or not planned) then possible = false end
if new == 'planning' and planned then possible = false end
if (new == 'done' or new == 'done_with_failures') and not all_assembled(job) then possible = false end
if not possible then return redis.error_reply('ILLEGALMOVE ' .. old .. ' ' .. new .. ' ' .. left) end

local vanished = is_dropped and drop_waiting(job) or 0
set_state(job, new, reason)
if new == 'planning' then step('plan', job) end
if new == 'assembling' then put_closing_steps(job) end
return {old, vanished}
