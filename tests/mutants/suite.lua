-- What the simulator runs to judge a planted fault alone: arguments of `society sim`, by
-- name, and the order in which they are tried. `finds` is what the simulator must find in the
-- app of that name, which is wrong on purpose.

local WILD = "tests/scenarios/wild.lua --seeds 1..60"
local ALL = "narrow few_effects kept open adopted confirmed victim"

return {
  seconds_max = 20, -- of the processor: a run that takes longer hangs
  order = {
    "laws", "set_back", "undone", "exact", "folds", "folds_exact", "doors", "forgetful", "timeouts",
    "takes", "prints", "strangers", "unasked", "news", "thinkers", "models", "models_all", "mixed",
    "jump", "standard", "disk", "left", "callers", "callers_full", "folds_wild", "wild",
    "wild_open", "wild_all", "outside",
  },
  runs = {
    laws = "tests/scenarios/laws.lua --seeds 1..50",
    set_back = "tests/scenarios/laws.lua --seeds 1..80 --faults jump,crash -- delay ttl window",
    undone = "tests/scenarios/laws.lua --seeds 1..60 --faults raise,lag,crash -- much",
    exact = "tests/scenarios/exact.lua --seeds 1..80",
    folds = "tests/scenarios/laws.lua --seeds 1..20 --faults fold,crash,lag,raise",
    folds_exact = "tests/scenarios/exact.lua --seeds 1..40 --faults fold,crash,lag",
    folds_wild = "tests/scenarios/wild.lua --seeds 1..40 --faults fold,crash,lag -- adopted",
    prints = "tests/mutants/prints.lua --seeds 1..60 --faults fold,crash,lag",
    doors = "tests/scenarios/doors.lua --seeds 1..40",
    disk = "tests/scenarios/standard.lua --seeds 1..40 --faults power,full,io,lag",
    standard = "tests/scenarios/standard.lua --seeds 1..100",
    timeouts = "tests/mutants/timeouts.lua --seeds 1..60",
    takes = "tests/mutants/takes.lua --seeds 1..60",
    strangers = "tests/mutants/strangers.lua --seeds 1..60",
    unasked = "tests/mutants/unasked.lua --seeds 1..60",
    news = "tests/mutants/news.lua --seeds 1..60",
    wild = WILD,
    wild_all = WILD .. " -- " .. ALL,
    wild_open = WILD .. " -- open adopted",
    mixed = "tests/scenarios/mixed.lua --seeds 1..200",
    thinkers = "tests/scenarios/thinkers.lua --seeds 1..12",
    models = "tests/scenarios/models.lua --seeds 1..40 --faults model",
    models_all = "tests/scenarios/models.lua --seeds 1..30",
    jump = "tests/scenarios/standard.lua --seeds 1..100 --faults jump",
    forgetful = "tests/mutants/forgetful.lua --seeds 1..20 --faults evict,crash",
    left = "tests/scenarios/standard.lua --seeds 1..40 --faults crash,power,lag",
    outside = "tests/scenarios/outside.lua --seeds 1..6",
    callers = "tests/scenarios/callers.lua --seeds 1..80",
    callers_full = "tests/scenarios/callers.lua --seeds 1..200 --faults full,lag,crash",
  },
  finds = {
    forgetful = "its handler did not repeat itself",
  },
}
