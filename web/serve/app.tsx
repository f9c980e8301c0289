/** The page: a question, the answers of one system or two side by side, and what the indexes hold. */
import type { JSX } from 'preact';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { ApiError, type Asking, explain, type IndexFigures, listIndexes, search } from './api.ts';
import {
  HIT_COUNTS,
  hashOf,
  isJoined,
  type Question,
  questionOf,
  settled,
  systemLabel,
  systemsOf,
} from './question.ts';
import { type Answered, Results } from './results.tsx';
import { Statistics } from './statistics.tsx';

/** Typing pauses that are taken for a finished question. */
const PAUSE_MS = 150;

/** Everything. */
export function App(): JSX.Element {
  const [token, setToken] = useState('');
  const [question, setQuestion] = useState<Question>(() => questionOf(location.hash));
  const { indexes, problem, needsToken } = useIndexes(token);
  const systems = useMemo(() => systemsOf(indexes.map(({ name }) => name)), [indexes]);
  const isFirst = useRef(location.hash === '');
  const asked = useMemo(() => settled(question, systems, isFirst.current), [question, systems]);
  const change = (part: Partial<Question>): void => {
    isFirst.current = false;
    setQuestion({ ...asked, ...part });
  };
  const columns = asked.beside === '' ? [asked.system] : [asked.system, asked.beside];
  const answers = useAnswers(asked, token);
  useEffect(() => {
    if (asked.query !== '') history.replaceState(null, '', hashOf(asked));
  }, [asked]);
  return (
    <>
      <header class="top">
        <h1>lzero serve</h1>
        <nav aria-label="For programs">
          <a href="openapi.json">OpenAPI</a> <a href="metrics">Metrics</a>
        </nav>
      </header>
      <main>
        {problem !== '' && (
          <p class="notice" role="alert">
            {problem}
          </p>
        )}
        {(needsToken || token !== '') && <TokenForm onToken={setToken} />}
        <QuestionForm question={asked} systems={systems} onChange={change} />
        {asked.query !== '' && asked.system !== '' && (
          <div class={columns.length > 1 ? 'columns two' : 'columns'}>
            {columns.map((system, i) => (
              <Results
                key={`${system} ${asked.query}`}
                system={system}
                answered={answers.get(system) ?? { state: 'waiting' }}
                otherRanks={columns.length > 1 ? ranksOf(answers.get(columns[1 - i])) : undefined}
                onExplain={
                  isJoined(system) ? (id) => explain(system, { query: asked.query, id }, { token }) : undefined
                }
              />
            ))}
          </div>
        )}
        <Statistics indexes={indexes} />
      </main>
      <footer>Press / to search. Nothing you type is kept, here or in the server's log.</footer>
    </>
  );
}

function ranksOf(answered: Answered | undefined): ReadonlyMap<string, number> | undefined {
  if (answered?.state !== 'done') return undefined;
  return new Map(answered.answer.hits.map(({ id, rank }) => [id, rank]));
}

type Indexes = { readonly indexes: readonly IndexFigures[]; readonly problem: string; readonly needsToken: boolean };

/** What is served; asked for again when there is another token. */
function useIndexes(token: string): Indexes {
  const [found, setFound] = useState<Indexes>({ indexes: [], problem: '', needsToken: false });
  useEffect(() => {
    const controller = new AbortController();
    listIndexes({ token, signal: controller.signal }).then(
      (indexes) => setFound({ indexes, problem: '', needsToken: false }),
      (error: unknown) => {
        if (controller.signal.aborted) return;
        const needsToken = error instanceof ApiError && error.status === 401;
        setFound({ indexes: [], problem: needsToken && token === '' ? '' : String(error), needsToken });
      },
    );
    return () => controller.abort();
  }, [token]);
  return found;
}

/** The answers to a question, by system. Those to a question that was changed meanwhile are dropped. */
function useAnswers({ query, system, beside, k }: Question, token: string): ReadonlyMap<string, Answered> {
  const [answers, setAnswers] = useState<ReadonlyMap<string, Answered>>(new Map());
  useEffect(() => {
    if (query === '' || system === '') return setAnswers(new Map());
    const controller = new AbortController();
    const asking = { token, signal: controller.signal };
    const note = (name: string, answered: Answered): void => {
      if (!controller.signal.aborted) setAnswers((before) => new Map(before).set(name, answered));
    };
    const timer = setTimeout(() => {
      for (const name of beside === '' ? [system] : [system, beside])
        void askSystem(name, { query, k }, asking).then((answered) => note(name, answered));
    }, PAUSE_MS);
    return () => {
      clearTimeout(timer);
      controller.abort();
    };
  }, [query, system, beside, k, token]);
  return answers;
}

async function askSystem(
  system: string,
  { query, k }: Pick<Question, 'query' | 'k'>,
  asking: Asking,
): Promise<Answered> {
  try {
    return { state: 'done', answer: await search(system, { query, k, explain: true }, asking) };
  } catch (error) {
    return { state: 'failed', message: error instanceof Error ? error.message : String(error) };
  }
}

type QuestionFormProps = {
  readonly question: Question;
  readonly systems: readonly string[];
  readonly onChange: (part: Partial<Question>) => void;
};

function QuestionForm({ question, systems, onChange }: QuestionFormProps): JSX.Element {
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      const isTyping = event.target instanceof HTMLInputElement || event.target instanceof HTMLSelectElement;
      if (event.key !== '/' || isTyping) return;
      event.preventDefault();
      field.current?.focus();
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, []);
  return (
    <search>
      <form class="question" onSubmit={(event) => event.preventDefault()}>
        <label class="query">
          Search
          <input
            ref={field}
            type="search"
            value={question.query}
            maxLength={8192}
            autocomplete="off"
            onInput={(event) => onChange({ query: event.currentTarget.value })}
          />
        </label>
        <Choice
          label="in"
          value={question.system}
          values={systems.map((system) => [system, systemLabel(system)])}
          onChoice={(system) => onChange({ system })}
        />
        <Choice
          label="beside"
          value={question.beside}
          values={[['', 'nothing'], ...systems.map((system): [string, string] => [system, systemLabel(system)])]}
          onChoice={(beside) => onChange({ beside })}
        />
        <Choice
          label="hits"
          value={String(question.k)}
          values={HIT_COUNTS.map((k) => [String(k), String(k)])}
          onChoice={(k) => onChange({ k: Number(k) })}
        />
      </form>
    </search>
  );
}

type ChoiceProps = {
  readonly label: string;
  readonly value: string;
  readonly values: readonly (readonly [value: string, label: string])[];
  readonly onChoice: (value: string) => void;
};

function Choice({ label, value, values, onChoice }: ChoiceProps): JSX.Element {
  return (
    <label>
      {label}
      <select value={value} onChange={(event) => onChoice(event.currentTarget.value)}>
        {values.map(([one, shown]) => (
          <option key={one} value={one}>
            {shown}
          </option>
        ))}
      </select>
    </label>
  );
}

/** Tokens stay in the memory of the page: whoever reloads it types them again. */
function TokenForm({ onToken }: { onToken: (token: string) => void }): JSX.Element {
  const field = useRef<HTMLInputElement>(null);
  return (
    <form
      class="question"
      onSubmit={(event) => {
        event.preventDefault();
        onToken(field.current?.value ?? '');
      }}
    >
      <label class="query">
        Token
        <input ref={field} type="password" autocomplete="off" />
      </label>
      <button type="submit">Use token</button>
    </form>
  );
}
