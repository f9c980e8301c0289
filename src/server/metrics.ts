/** What a server has done, counted, in the text format of Prometheus (version 0.0.4). */

/** One answered request. */
export type Answered = {
  /** The address as the OpenAPI document has it: with a name of a client in it the counters would grow without end. */
  readonly route: string;
  readonly method: string;
  readonly status: number;
  readonly seconds: number;
};

/** A number that stands for now. */
export type Gauge = {
  readonly name: string;
  readonly help: string;
  readonly type?: 'gauge' | 'counter' | undefined;
  readonly values: readonly {
    readonly labels?: Readonly<Record<string, string>> | undefined;
    readonly value: number;
  }[];
};

/** Upper ends of the classes of durations, in seconds. */
const BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

type Durations = { readonly counts: number[]; sum: number; count: number };

/** Counts requests. */
export class RequestMetrics {
  readonly #requests = new Map<string, { readonly answered: Answered; count: number }>();
  readonly #durations = new Map<string, Durations>();

  /** Counts one. */
  count(answered: Answered): void {
    const { route, method, status, seconds } = answered;
    const key = `${method} ${route} ${status}`;
    const known = this.#requests.get(key);
    if (known) known.count++;
    else this.#requests.set(key, { answered, count: 1 });
    const durations = this.#durationsOf(route);
    const bucket = BUCKETS.findIndex((most) => seconds <= most);
    if (bucket >= 0) durations.counts[bucket]++;
    durations.sum += seconds;
    durations.count++;
  }

  #durationsOf(route: string): Durations {
    const known = this.#durations.get(route);
    if (known) return known;
    const fresh = { counts: BUCKETS.map(() => 0), sum: 0, count: 0 };
    this.#durations.set(route, fresh);
    return fresh;
  }

  /** All of it as text, after the gauges. */
  render(gauges: readonly Gauge[]): string {
    const lines = gauges.flatMap(gaugeLines);
    lines.push('# HELP lzero_http_requests_total Requests by route, method and status.');
    lines.push('# TYPE lzero_http_requests_total counter');
    for (const { answered, count } of this.#requests.values()) {
      const { route, method, status } = answered;
      lines.push(`lzero_http_requests_total${labelText({ route, method, status: String(status) })} ${count}`);
    }
    lines.push('# HELP lzero_http_request_duration_seconds Time from the headers of a request to its answer.');
    lines.push('# TYPE lzero_http_request_duration_seconds histogram');
    for (const [route, durations] of this.#durations) lines.push(...histogramLines(route, durations));
    return `${lines.join('\n')}\n`;
  }
}

function histogramLines(route: string, { counts, sum, count }: Durations): string[] {
  const name = 'lzero_http_request_duration_seconds';
  let total = 0;
  const buckets = BUCKETS.map((most, i) => {
    total += counts[i];
    return `${name}_bucket${labelText({ route, le: String(most) })} ${total}`;
  });
  return [
    ...buckets,
    `${name}_bucket${labelText({ route, le: '+Inf' })} ${count}`,
    `${name}_sum${labelText({ route })} ${sum}`,
    `${name}_count${labelText({ route })} ${count}`,
  ];
}

function gaugeLines({ name, help, type = 'gauge', values }: Gauge): string[] {
  const lines = values.map(({ labels = {}, value }) => `${name}${labelText(labels)} ${value}`);
  return [`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`, ...lines];
}

function labelText(labels: Readonly<Record<string, string>>): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escaped(value)}"`);
  return pairs.length > 0 ? `{${pairs.join(',')}}` : '';
}

function escaped(value: string): string {
  return value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');
}
