/** Charts as files. */
import { type JSX, render } from 'preact';
import { Figure, type FigureSpec } from './figure.tsx';

/** Pixels of a PNG for each of the drawing: sharp on paper and on fine screens. */
const PNG_SCALE = 2;

/** A drawing as the text of an SVG file. */
export function svgText(spec: FigureSpec): string {
  const place = document.createElement('div');
  render(<Figure {...spec} isAlone />, place);
  return new XMLSerializer().serializeToString(place.firstElementChild ?? place);
}

/** Buttons that save a drawing. */
export function SaveButtons({ name, figure }: { name: string; figure: () => FigureSpec | undefined }): JSX.Element {
  const saveAs = (kind: 'svg' | 'png'): void => {
    const spec = figure();
    if (spec) void save(spec, `${name.replace(/[^\w@-]+/g, '-').replace(/^-|-$/g, '')}.${kind}`, kind);
  };
  return (
    <span class="save">
      <button type="button" onClick={() => saveAs('svg')} aria-label={`Save ${name} as SVG`}>
        SVG
      </button>
      <button type="button" onClick={() => saveAs('png')} aria-label={`Save ${name} as PNG`}>
        PNG
      </button>
    </span>
  );
}

async function save(spec: FigureSpec, file: string, kind: 'svg' | 'png'): Promise<void> {
  const text = svgText(spec);
  const blob = kind === 'svg' ? new Blob([text], { type: 'image/svg+xml' }) : await pngOf(text, spec);
  const link = document.createElement('a');
  link.href = URL.createObjectURL(blob);
  link.download = file;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000); // the browser has read it by then
}

async function pngOf(text: string, { width, height }: FigureSpec): Promise<Blob> {
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`;
  await image.decode();
  const canvas = document.createElement('canvas');
  canvas.width = PNG_SCALE * width;
  canvas.height = PNG_SCALE * height;
  canvas.getContext('2d')?.drawImage(image, 0, 0, canvas.width, canvas.height);
  return await new Promise((resolve, reject) => {
    canvas.toBlob((blob) => (blob ? resolve(blob) : reject(new Error('the browser made no PNG'))), 'image/png');
  });
}
