// An independent mock of the OpenAI and Anthropic APIs, @copilotkit/aimock: prints its URL
// and answers until it is ended. The first argument is where it is installed.
import { createRequire } from "module";

const require = createRequire(process.argv[2] + "/index.js");
const { LLMock } = require("@copilotkit/aimock");

const mock = new LLMock({ port: 0 });
mock.on({ userMessage: /weather/, hasToolResult: true }, { content: "It is sunny in Berlin." });
mock.onMessage(/weather/, { toolCalls: [
  { name: "get_weather", arguments: '{"city":"Berlin"}', id: "call_w1" },
  { name: "get_weather", arguments: '{"city":"Rome"}', id: "call_w2" },
] });
mock.onMessage(/both/, { content: "I look. ", toolCalls: [
  { name: "get_weather", arguments: '{"city":"Oslo"}' },
] });
mock.onMessage(/hello/, { content: "Hi there! 你好 " + "word ".repeat(200) }, { chunkSize: 3 });
mock.onMessage(/broken/, { error: { message: "too long", type: "invalid_request_error",
  code: "context_length_exceeded" }, status: 400 });
mock.onMessage(/busy/, { content: "now I can" });
mock.onMessage(/dead/, { error: { message: "out of order", type: "server_error" }, status: 500 });
mock.onMessage(/limited/, { error: { message: "later", type: "rate_limit_error" }, status: 429,
  retryAfter: 7200 });
mock.onMessage(/slow/, { content: "slow bytes ".repeat(10) }, { chunkSize: 5, latency: 25 });
mock.onMessage(/huge/, { content: "x".repeat(2000000) }, { chunkSize: 20000 });
// Its Retry-After is one second.
if (process.argv[3] === "errors") {
  mock.nextRequestError(429, { message: "slow down", type: "rate_limit_error" });
}
if (process.argv[3] === "failing") mock.nextRequestError(500, { message: "oops" });
if (process.argv[3] === "chaos") mock.setChaos({ disconnectRate: 1 });
if (process.argv[3] === "garbage") mock.setChaos({ malformedRate: 1 });
await mock.start();
console.log(mock.url);
