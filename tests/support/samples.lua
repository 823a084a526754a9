--- samples: the messages that the protocols show, verbatim; `{...}` is `{}`.

return {
  workflow = {
    [[{
      "id": "msg_20250125_143022_abc123",
      "timestamp": "2025-01-25T14:30:22.456Z",
      "from": "orchestrator",
      "to": "agent_architecture",
      "type": "task_assign",
      "payload": {
        "task_id": "task_001",
        "perspective": "architecture",
        "topic": "user-auth-system"
      },
      "requires_ack": true,
      "ttl_seconds": 300
    }]],
  },
  helix = {
    [[{
      "id": "msg-001",
      "from": "Helix",
      "to": "Codex",
      "type": "task",
      "content": { "task_id": "TASK-001", "action": "execute", "payload": {} },
      "timestamp": "2026-02-21T19:00:00Z",
      "priority": "high",
      "requires_ack": true
    }]],
    [[{
      "type": "result",
      "from": "Codex",
      "to": "Helix",
      "content": { "task_id": "TASK-001", "status": "done", "output": {}, "duration_minutes": 15 }
    }]],
    [[{
      "type": "alert",
      "from": "Codex",
      "to": "Helix",
      "content": { "alert_type": "blocked", "reason": "需要 API key", "task_id": "TASK-002" }
    }]],
    [[{
      "type": "sync",
      "from": "Scheduler",
      "to": "Helix",
      "content": { "status": "idle", "load": "40%", "active_tasks": 1 }
    }]],
    [[{
      "type": "task",
      "from": "Helix",
      "to": "Codex",
      "content": {
        "task_id": "TASK-001",
        "requirement": "实现用户登录",
        "spec": ["JWT", "bcrypt"],
        "priority": "P0",
        "deadline": "2026-02-21T20:00:00Z"
      }
    }]],
    [[{
      "type": "task",
      "from": "Helix",
      "to": "Codex",
      "content": { "task_id": "TASK-002", "action": "cancel", "reason": "优先级调整" }
    }]],
    [[{
      "type": "query",
      "from": "Codex",
      "to": "Reviewer",
      "content": { "query": "这段代码有安全风险吗?", "code": "...", "context": "用户登录" }
    }]],
    [[{
      "type": "response",
      "from": "Reviewer",
      "to": "Codex",
      "content": {
        "query_id": "msg-xxx",
        "answer": "有 SQL 注入风险",
        "severity": "high",
        "suggestion": "使用参数化查询"
      }
    }]],
    [[{
      "type": "alert",
      "from": "System",
      "to": "Helix",
      "content": {
        "alert_type": "timeout",
        "agent": "Codex",
        "task_id": "TASK-001",
        "duration_minutes": 35
      }
    }]],
    [[{
      "type": "result",
      "from": "Codex",
      "to": "Helix",
      "content": {
        "task_id": "TASK-001",
        "status": "failed",
        "error": "API rate limit exceeded",
        "retryable": true
      }
    }]],
  },
}
