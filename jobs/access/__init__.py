"""Who may use the HTTP door: tokens, their scopes and quotas."""
