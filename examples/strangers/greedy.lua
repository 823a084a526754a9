-- A stranger's behaviour that never ends: it is stopped when its CPU time is over.
return function()
  while true do
  end
end
