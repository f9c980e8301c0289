/** Node's own HTTP server, which answers everything with so many bytes: what any server in Node costs. For bench/serve.ts. */
import { createServer } from 'node:http';

const body = 'x'.repeat(Number(process.argv[2]));

const server = createServer((request, response) => {
  const text = request.url === '/metrics' ? metrics() : body;
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) });
  response.end(text);
});

function metrics(): string {
  const { user, system } = process.cpuUsage();
  return `process_cpu_seconds_total ${(user + system) / 1e6}\nprocess_resident_memory_bytes ${process.memoryUsage.rss()}\n`;
}

server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : undefined;
  console.log(JSON.stringify({ url: `http://127.0.0.1:${port}/` }));
});
process.on('SIGTERM', () => process.exit(0));
