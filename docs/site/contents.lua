-- The pages of the site, in the order of its menu. Files that a page links to, such as the
-- examples, become pages as well without being named here.

return {
  { title = "Start", pages = {
    { "README.md", "Overview" },
    { "docs/tutorial.md", "Tutorial" },
    { "docs/concepts.md", "Concepts" },
    { "examples/README.md", "Examples" },
    { "docs/glossary.md", "Glossary" },
  } },
  { title = "Write agents", pages = {
    { "docs/lua-api.md", "Lua API" },
    { "docs/llm.md", "Models" },
    { "docs/policies.md", "Policies" },
    { "policies/README.md", "Policies by kind" },
    { "docs/testing.md", "Testing" },
    { "docs/debugging.md", "Debugging" },
    { "docs/guarantees.md", "Guarantees" },
    { "docs/security.md", "Security" },
  } },
  { title = "Run them", pages = {
    { "docs/command-line.md", "Command line" },
    { "docs/operating.md", "Operating" },
    { "docs/upgrading.md", "Upgrading" },
    { "docs/page.md", "The page" },
    { "docs/telemetry.md", "Telemetry" },
  } },
  { title = "Connect programs", pages = {
    { "docs/http.md", "HTTP" },
    { "docs/routes.md", "Routes" },
    { "docs/operations.md", "Operations" },
    { "docs/files.md", "Files" },
    { "docs/redis.md", "Redis" },
    { "docs/hosts.md", "Hosts" },
  } },
  { title = "Change it", pages = {
    { "docs/architecture.md", "Architecture" },
    { "CONTRIBUTING.md", "Contributing" },
    { "tests/README.md", "Tests" },
    { "bench/README.md", "Measurements" },
    { "CHANGELOG.md", "Changelog" },
  } },
  { title = "中文", pages = {
    { "README.zh.md", "概览" },
    { "docs/zh/tutorial.md", "教程" },
  } },
}
