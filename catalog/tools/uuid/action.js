return crypto.randomUUID();
