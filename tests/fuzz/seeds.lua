-- Seeds: writes what a fuzzer begins with, one file each: seeds.lua NAME FOLDER
--
-- guest_fuzz begins with talks that go well and talks that do not. The other fuzzers find their
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

local name, folder = arg[1], arg[2]
for i, text in ipairs(seeds[name] and seeds[name]() or {}) do
  local file = assert(io.open(("%s/seed%03d"):format(folder, i), "w"))
  file:write(text)
  file:close()
end
