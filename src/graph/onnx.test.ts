import { describe, expect, it } from 'vitest';
import { GraphBuilder } from './builder.ts';
import { forEachRow } from './control-flow.ts';
import { unary } from './index.ts';
import { PORTABLE, toOnnx } from './onnx.ts';
import { Session } from './session.ts';

const ENGINE_DOMAIN = 'com.microsoft';
const names = (bytes: Uint8Array, text: string) => Buffer.from(bytes).includes(text);

/** x → relu(x), row by row, with an operator of the engine's own inside if asked for. */
function graph({ own }: { own: boolean }): GraphBuilder {
  const g = new GraphBuilder('g');
  const [y] = forEachRow(g, [g.input('x', 'float32', ['B', 2])], (inner, [row]) => [
    own ? inner.node('FastGelu', [row], row, { domain: ENGINE_DOMAIN }) : unary(inner, 'Relu', row),
  ]);
  g.output('y', y);
  return g;
}

describe('an ONNX file', () => {
  it("names the engine's own operators only where a graph, or one inside it, has them", () => {
    expect(names(toOnnx(graph({ own: false })), ENGINE_DOMAIN)).toBe(false);
    expect(names(toOnnx(graph({ own: true })), ENGINE_DOMAIN)).toBe(true);
  });

  it('of the portable version begins with IR 9 and is loaded; the engine tells its inputs and outputs', async () => {
    const bytes = toOnnx(graph({ own: false }), PORTABLE);
    expect([...bytes.subarray(0, 2)]).toEqual([0x08, 9]); // field 1, ir_version
    const session = await Session.start();
    const found = await session.load({ bytes }, { threads: 1 });
    await session.close();
    expect(found).toEqual({ inputs: ['x'], outputs: ['y'] });
  });
});
