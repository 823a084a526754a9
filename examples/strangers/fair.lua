-- A stranger's behaviour: it bids a little more each time it is asked.
return function(agent)
  agent.state.bids = (agent.state.bids or 0) + 1
  return { bid = 35 + agent.state.bids }
end
