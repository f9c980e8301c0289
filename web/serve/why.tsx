/** Why a hit has its score: products of terms; of indexes that are joined, the rank and the products in each. */
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { Explanation, Product } from './api.ts';

type WhyProps = {
  /** What the search itself has told: all of it, or what each index adds. */
  readonly explain: readonly Product[];
  /** Asks for ranks and products in each index; undefined where one index was searched. */
  readonly ask: (() => Promise<Explanation>) | undefined;
};

/** Asks when it is opened, once. */
export function Why({ explain, ask }: WhyProps): JSX.Element {
  const [found, setFound] = useState<Explanation | string>();
  const onToggle = (): void => {
    if (ask && found === undefined) ask().then(setFound, (error: unknown) => setFound(String(error)));
  };
  const engines = typeof found === 'object' ? (found.engines ?? []) : [];
  return (
    <details onToggle={onToggle}>
      <summary>Why this score</summary>
      <Products products={explain} />
      {typeof found === 'string' && <p class="notice">{found}</p>}
      {engines.map(({ name, rank, score, explain: products }) => (
        <section key={name} aria-label={`In ${name}`}>
          <p class="place">
            <span>in {name}</span>
            <span>{rank === null ? 'no term of the query' : `place ${rank}, score ${score.toFixed(3)}`}</span>
          </p>
          {products.length > 0 && <Products products={products} />}
        </section>
      ))}
    </details>
  );
}

function Products({ products }: { products: readonly Product[] }): JSX.Element {
  const most = products[0]?.product ?? 1;
  return (
    <table>
      <thead>
        <tr>
          <th scope="col">token</th>
          <th scope="col">query</th>
          <th scope="col">document</th>
          <th scope="col">product</th>
          <td />
        </tr>
      </thead>
      <tbody>
        {products.map(({ token, queryWeight, docWeight, product }) => (
          <tr key={token}>
            <th scope="row">{token}</th>
            <td>{queryWeight.toFixed(3)}</td>
            <td>{docWeight.toFixed(3)}</td>
            <td>{product.toFixed(3)}</td>
            <td>
              <meter min={0} max={most} value={product} aria-label={`share of ${token}`} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
