// Reads a diagram from stdin and says what the real mermaid takes it for.
import { createRequire } from "module";
import { pathToFileURL } from "url";

const require = createRequire(process.argv[2] + "/index.js");
const { JSDOM } = require("jsdom");
const dom = new JSDOM("");
globalThis.window = dom.window;
globalThis.document = dom.window.document;
const { default: mermaid } = await import(
  pathToFileURL(process.argv[2] + "/node_modules/mermaid/dist/mermaid.core.mjs"));

let text = "";
for await (const chunk of process.stdin) text += chunk;
try {
  console.log((await mermaid.parse(text)).diagramType);
} catch (error) {
  console.log("refused: " + error.message);
  process.exit(1);
}
