const written = safety.fs.writeText(path, content);
return {
  ok: true,
  path: written,
  bytes: new TextEncoder().encode(content).length,
};
