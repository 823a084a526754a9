-- Requests that mean one thing to one reader and another to the next are not read at all.
--
-- A corpus of bad framing, sent byte by byte. Each has a second request hidden inside, which
-- would pause root; it must never be carried out.
-- Covers: core/net/server_request.c

local program = require("program")
local web = require("web")

local APP = 'local society = require("society")\nsociety.main(function() end)\n'

describe("framing", function()
  local place, door, head, hidden

  setup(function()
    place = program.place()
    place:write("app.lua", APP)
    door = web.start(place, "run app.lua --http 0 --log none")
    head = ("Host: %s\r\nAuthorization: Bearer %s\r\n"):format(door.host, door.token)
    hidden = "POST /api/v1/agents/root/pause HTTP/1.1\r\n" .. head .. "\r\n"
  end)

  teardown(function()
    door:stop()
    place:remove()
  end)

  after_each(function()
    assert.equal("idle", door:curl("/api/v1/agents/root").json.status)
    assert.same({}, door:curl("/api/v1/activity?type=order").json.items)
  end)

  -- Sends each case on a connection of its own; every one is refused and its connection closed.
  local function expect(status, cases)
    local requests = {}
    for index, case in ipairs(cases) do
      requests[index] = { send = type(case) == "table" and case or { case } }
    end
    for index, answer in ipairs(door:raw(requests)) do
      local text = table.concat(requests[index].send):sub(1, 200)
      assert.is_false(answer.left, text)
      assert.is_true(#answer.statuses > 0, text)
      -- libmicrohttpd sends the head of some of its own refusals twice, then closes.
      for _, each in ipairs(answer.statuses) do
        assert.equal(status, each, text .. "\n" .. answer.text)
      end
    end
  end

  local function post(headers, body)
    return "POST /api/v1/intake HTTP/1.1\r\n" .. head .. "Content-Type: application/json\r\n"
      .. headers .. "\r\n" .. body .. hidden
  end

  it("has one length, and one that is a number", function()
    expect(400, {
      post("Content-Length: 2\r\nTransfer-Encoding: chunked\r\n", "{}"),
      post("Transfer-Encoding: chunked\r\nContent-Length: 2\r\n", "0\r\n\r\n"),
      post("Content-Length: 2\r\nContent-Length: 2\r\n", "{}"),
      post("Content-Length: 2\r\nContent-Length: 300\r\n", "{}"),
      post("Content-Length: 2, 2\r\n", "{}"),
      post("Content-Length: +2\r\n", "{}"),
      post("Content-Length: -2\r\n", "{}"),
      post("Content-Length: 0x2\r\n", "{}"),
      post("Content-Length: 2e0\r\n", "{}"),
      post("Content-Length: \r\n", "{}"),
    })
  end)

  it("has no encoding but chunked, once", function()
    expect(400, {
      post("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n", "0\r\n\r\n"),
      post("Transfer-Encoding: chunked, chunked\r\n", "0\r\n\r\n"),
      post("Transfer-Encoding: gzip, chunked\r\n", "0\r\n\r\n"),
      post("Transfer-Encoding: identity\r\n", "0\r\n\r\n"),
      post("Transfer-Encoding: xchunked\r\n", "0\r\n\r\n"),
      post("Transfer-Encoding: chunked;q=1\r\n", "0\r\n\r\n"),
      post("Transfer-Encoding:\r\n", "0\r\n\r\n"),
    })
  end)

  it("has well-formed chunks", function()
    local chunked = "Transfer-Encoding: chunked\r\n"
    expect(400, {
      post(chunked, "zz\r\n{}\r\n0\r\n\r\n"),
      post(chunked, "-2\r\n{}\r\n0\r\n\r\n"),
      post(chunked, "0x2\r\n{}\r\n0\r\n\r\n"),
      post(chunked, "\r\n{}\r\n0\r\n\r\n"),
      post(chunked, "2\r\n{}XX0\r\n\r\n"),
    })
  end)

  it("has one host, and no space before a colon", function()
    local line = "GET /healthz HTTP/1.1\r\n"
    expect(400, {
      line .. "\r\n" .. hidden,
      line .. "Host: a\r\nHost: a\r\n\r\n" .. hidden,
      line .. "Host : " .. door.host .. "\r\n\r\n" .. hidden,
      line .. "Host: " .. door.host .. "\r\n folded\r\n\r\n" .. hidden,
      line .. "Host: " .. door.host .. "\r\nno colon\r\n\r\n" .. hidden,
      line .. "Host: " .. door.host .. "\r\nX: y\rTransfer-Encoding: chunked\r\n\r\n" .. hidden,
      "POST /healthz HTTP/1.1\r\nHost: " .. door.host
        .. "\r\nTransfer-Encoding : chunked\r\n\r\n0\r\n\r\n" .. hidden,
    })
  end)

  it("has a request line of three words and a path", function()
    local rest = "\r\nHost: " .. door.host .. "\r\n\r\n" .. hidden
    expect(400, {
      "GET http://127.0.0.1/healthz HTTP/1.1" .. rest,
      "GET healthz HTTP/1.1" .. rest,
      "CONNECT 127.0.0.1:80 HTTP/1.1" .. rest,
      "GET /healthz /x HTTP/1.1" .. rest,
      "GET /healthz\r\n\r\n",
    })
  end)

  it("is bounded", function()
    local good = "Host: " .. door.host .. "\r\n"
    expect(414, { "GET /" .. ("x"):rep(9000) .. " HTTP/1.1\r\n" .. good .. "\r\n" })
    local many = {}
    for index = 1, 101 do
      many[index] = ("X-%d: y\r\n"):format(index)
    end
    expect(431, {
      "GET /healthz HTTP/1.1\r\n" .. good .. table.concat(many) .. "\r\n",
      "GET /healthz HTTP/1.1\r\n" .. good .. "X: " .. ("y"):rep(17000) .. "\r\n\r\n",
      "GET /healthz HTTP/1.1\r\n" .. good .. "X: " .. ("y"):rep(200000) .. "\r\n\r\n",
    })
    expect(413, {
      "POST /api/v1/intake HTTP/1.1\r\n" .. head .. "Content-Length: 2000000\r\n\r\n",
      post("Content-Length: 99999999999999999999\r\n", "{}"),
      { "POST /api/v1/intake HTTP/1.1\r\n" .. head .. "Transfer-Encoding: chunked\r\n"
        .. "Connection: close\r\n\r\n", "110000\r\n" .. ("x"):rep(0x110000) .. "\r\n0\r\n\r\n" },
    })
  end)

  -- libmicrohttpd takes a line feed alone for the end of a line, and cuts words at a NUL. What
  -- a proxy takes for part of a value could so become a header, or a request.
  it("ends lines with CR LF only, and has no NUL in its words", function()
    local line = "GET /healthz HTTP/1.1\r\n"
    local host = "Host: " .. door.host
    expect(400, {
      "GET /healthz HTTP/1.1\n" .. host .. "\r\n\r\n" .. hidden,
      line .. host .. "\nX: y\r\n\r\n" .. hidden,
      line .. host .. "\r\nX: y\nZ: z\r\n\r\n" .. hidden,
      line .. host .. "\r\nX: y\n\r\n" .. hidden,
      line .. host .. "\r\nX: y\r\n\n" .. hidden,
      line .. host .. "\r\nX: y\n\n" .. hidden,
      "GET /healthz HTTP/1.0\n\n" .. hidden,
      line .. host .. "\0.example\r\n\r\n" .. hidden,
      line .. host .. "\r\nX: y\0\0\r\nZ: z\r\n\r\n" .. hidden,
      line .. host .. "\r\nX: y\r\n\0Z: z\r\n\r\n" .. hidden,
      line .. host .. "\r\nX\0Y: y\r\n\r\n" .. hidden,
      "GET /healthz\0/x HTTP/1.1\r\n" .. host .. "\r\n\r\n" .. hidden,
      "GET /healthz  HTTP/1.1\r\n" .. host .. "\r\n\r\n" .. hidden,
      "GET  /healthz HTTP/1.1\r\n" .. host .. "\r\n\r\n" .. hidden,
      post("Content-Length: 2\r\nX: y\nTransfer-Encoding: chunked\r\n", "{}"),
      post("Content-Length: 2\r\nX: y\nContent-Length: 300\r\n", "{}"),
    })
  end)

  -- A NUL before the line feed cannot be told from a carriage return. The line that follows is
  -- a header like any other: it counts, so nothing is hidden by it.
  it("counts headers that a NUL and a line feed divide", function()
    expect(400, {
      post("Content-Length: 2\r\nX: y\0\nTransfer-Encoding: chunked\r\n", "{}"),
      post("Content-Length: 2\r\nX: y\0\nContent-Length: 300\r\n", "{}"),
      "GET /healthz HTTP/1.1\r\n" .. head .. "X: y\0\nHost: other\r\n\r\n" .. hidden,
    })
  end)

  it("allows what is allowed: HTTP/1.0, chunks, pipelines", function()
    local function get(path, more)
      return ("GET %s HTTP/1.1\r\n%s%s\r\n"):format(path, head, more or "")
    end
    local close = "Connection: close\r\n"
    local body = '{"payload":{},"to":"nobody"}'
    local cases = {
      { "GET /healthz HTTP/1.0\r\nHost: " .. door.host .. "\r\n\r\n", { 200 } },
      { "GET /healthz HTTP/1.0\r\n\r\n", { 403 } },
      { get("/healthz?" .. ("x"):rep(8000), ("X: " .. ("y"):rep(77) .. "\r\n"):rep(96) .. close),
        { 200 } },
      { get("/healthz", "X:y\r\nY:\r\nZ: \t \r\nCookie: a=b; c=d\r\n" .. close), { 200 } },
      { get("/healthz") .. get("/api/v1/stats") .. get("/nothing") .. get("/healthz", close),
        { 200, 200, 404, 200 } },
      { "POST /api/v1/messages HTTP/1.1\r\n" .. head .. close
        .. "Content-Type: application/json\r\n"
        .. "Transfer-Encoding: chunked\r\n\r\n" .. ("%x;ext=1\r\n%s\r\n0\r\n\r\n"):format(#body,
        body), { 404 } },
      { "POST /api/v1/messages HTTP/1.1\r\n" .. head .. "Content-Type: application/json\r\n"
        .. "Content-Length: " .. #body .. "\r\n\r\n" .. body .. get("/healthz", close),
        { 404, 200 } },
    }
    local requests = {}
    for index, case in ipairs(cases) do
      requests[index] = { send = { case[1] } }
    end
    for index, answer in ipairs(door:raw(requests)) do
      assert.is_false(answer.left, cases[index][1])
      assert.same(cases[index][2], answer.statuses, cases[index][1] .. answer.text)
    end
  end)

  it("may come byte by byte", function()
    local text = "GET /healthz HTTP/1.1\r\nHost: " .. door.host .. "\r\nConnection: close\r\n\r\n"
    local bytes = {}
    for index = 1, #text do
      bytes[index] = text:sub(index, index)
    end
    assert.same({ 200 }, door:raw({ { send = bytes } })[1].statuses)
  end)
end)
