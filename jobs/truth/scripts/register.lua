-- Make a worker known (Truth.register). ARGV: worker, WorkerInfo JSON. Returns 1. Writes: K.workers, K.worker.
call('ZADD', K.workers, stamp(), ARGV[1])
call('HSET', K.worker .. ARGV[1], 'info', ARGV[2])
return 1
