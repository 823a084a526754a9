--- prices: prices of models in US dollars per million tokens, input and output.
--
-- Edit it, or set society.config{ llm = { prices = { mine = { input = 1, output = 2 } } } }.
-- An unknown name has the price of the longest name that is its prefix, or none.

local M = {
  ["gpt-4o"] = { input = 2.5, output = 10 },
  ["gpt-4o-mini"] = { input = 0.15, output = 0.6 },
  ["gpt-4.1"] = { input = 2, output = 8 },
  ["gpt-4.1-mini"] = { input = 0.4, output = 1.6 },
  ["gpt-4.1-nano"] = { input = 0.1, output = 0.4 },
  ["o3"] = { input = 2, output = 8 },
  ["o4-mini"] = { input = 1.1, output = 4.4 },
  ["claude-3-5-haiku"] = { input = 0.8, output = 4 },
  ["claude-3-7-sonnet"] = { input = 3, output = 15 },
  ["claude-sonnet-4"] = { input = 3, output = 15 },
  ["claude-opus-4"] = { input = 15, output = 75 },
  ["deepseek-chat"] = { input = 0.27, output = 1.1 },
}

return M
