-- Seeds: writes what a fuzzer begins with, one file each: seeds.lua NAME FOLDER
--
-- guest_fuzz begins with talks that go well and talks that do not, operation_fuzz with calls that
-- are answered, url_fuzz with bodies, websocket_fuzz with frames. The other fuzzers find their
-- way from nothing.

local seeds = {}

-- Each line is a frame of worker/guest.h; an empty one is a worker that is slow.
function seeds.guest_fuzz()
  local brief = '{"completion_criteria":"c","constraints":[],"inputs":"i","objective":"o",'
    .. '"outputs":"o"}'
  local texts = {
    '["agent","send_message",[{"payload":"x","to":"bystander"}]]\n["done","ok",null]',
    '["agent","now",[]]\n\n["agent","receive",[{"timeout_ms":5}]]\n["done",null,{"a":1}]',
    '["agent","spawn_agent",["guest",' .. brief .. ']]\n\n["society","agents",[]]\n["done",1,[]]',
    '["text",{"payload":{"text":"x"}}]\n["random",[1,6]]\n["time"]\n["clock"]\n["status"]\n'
      .. '["print",["x",null]]\n["require","society.brief"]\n["error",{"a":1},"traceback"]',
    '["agent","request",[{"payload":"still there?","to":"bystander"}]]\n["agent","reply",["x"]]\n'
      .. '["agent","checkpoint",[{}]]\n["over","memory",1]',
    '["agent","broadcast",[{"payload":"x"}]]\n["agent","sleep",[10]]\n["agent","contacts",[]]\n'
      .. '["agent","terminate",["guest"]]\n["done","x",[]]',
    '["agent","load",[]]\n["agent","can_send",["bystander"]]\n["agent","knows",["root"]]\n'
      .. '["agent","add_contact",[{"id":"root"}]]\n["agent","remove_contact",["root"]]\n'
      .. '["unhandled"]',
    '["society","config",[{}]]', '["over","cpu_ms",1]', '["done","x",5]', '["agent","now"]',
    "nonsense", "[]", '["agent","http",[{"url":"http://127.0.0.1:1"}]]\n["done",1,null]',
  }
  return texts
end

-- Each line is the name of an operation and its parameters.
function seeds.operation_fuzz()
  return {
    'send {"to":"root","payload":{"a":1},"dedupe_key":"d"}\nmessages {"limit":2,"after":0}',
    'intake {"text":"hi","wait_ms":5}\nactivity {"after":0,"wait_ms":5,"type":"sent"}',
    'pause {"agent":"root"}\nresume {"agent":"root"}\nagents {}\nagent {"agent":"root"}',
    'request {"to":"root","payload":"x","timeout_ms":5}\ndead_letters {"from":"user"}',
    'at {"line":2}\nwhy {"agent":"root"}\ntree {}\nwaits {}\nstats {}\ncontext {"agent":"root"}',
    'redeliver {}\ndrop {"reason":"expired"}\ninbox {"state":"all","limit":1}\nusage {}',
    'swap {"kind":"messages","policy":"open"}\npolicies {}\npolicy_kind {"kind":"messages"}',
    'rows {}\ndot {}\nmermaid {}\nregistries {}\nroles {"since":0}\ntasks {"type":"open"}',
    'cancel {"task":"t1"}\ndecide {"item_id":"item_1","decision":"approve"}\nmail {"agent":"root"}',
    'terminate {"agent":"root"}\nack {"message_id":"msg_1"}\nstop {}',
  }
end

-- How much comes with the handshake, how long the pieces are, and frames with a mask of zeros.
function seeds.websocket_fuzz()
  local mask = "\0\0\0\0"
  local ping, pong = "\x89\x82" .. mask .. "hi", "\x8a\x80" .. mask
  local bye = "\x88\x82" .. mask .. "\x03\xe8"
  return { "\0\xff" .. ping .. pong .. bye, "\x05\0" .. ping .. ping, "\0\0\x81\x80" .. mask,
    "\xff\x03\x01\x81" .. mask .. "a" .. ping .. "\x80\x81" .. mask .. "b",
    "\0\x20\x82\xfe\x04\x01" .. mask .. ("x"):rep(1025), "\0\x20\x81\xff\x7f" .. ("\xff"):rep(11),
    "\x02\x01\x89\xfe\0\x7e" .. mask .. ("x"):rep(126), "\0\x09" .. bye .. ping }
end

-- A query, a line feed and a body.
function seeds.url_fuzz()
  return { 'a=1&b=%20\n{"text":"x","wait_ms":5}', 'limit=2\n{"to":["a"],"payload":{"a":[1]}}',
    '\n{"a\\u0000":1}', '\n{"\\u0061gent":"x"}' }
end

local name, folder = arg[1], arg[2]
for i, text in ipairs(seeds[name] and seeds[name]() or {}) do
  local file = assert(io.open(("%s/seed%03d"):format(folder, i), "w"))
  file:write(text)
  file:close()
end
