/**
 * Names that a server takes as they are. A token is a key of a rank_features field, and the server finds it again under
 * "field.token": a dot ends up in the wrong place without a word (rank_feature on "v.." matches nothing), half a surrogate
 * pair is replaced, an empty key is refused. Such names are written in another way, which can be undone:
 *
 *     "."  →  "%%%002E"        marker "%%", then units of UTF-16 that are not plain as "%" and four hexadecimal digits
 *
 * All other names stay as they are, so of BERT's 30,522 tokens only those with a dot change. A name that begins with the
 * marker is written in that way too, so no two names become one.
 */

const MARKER = '%%';
/** Dots, control characters, halves of surrogate pairs. */
const UNSAFE_IN_TOKENS = /[.\p{Cc}\p{Cs}]/u;
/** What no reader of a path takes for anything else. */
const PLAIN_FIELD = /^[A-Za-z0-9_-]+$/;

/** A token as a feature of a rank_features field. */
export function featureOfToken(token: string): string {
  const isPlain = token !== '' && !token.startsWith(MARKER) && !UNSAFE_IN_TOKENS.test(token);
  return isPlain ? token : MARKER + escaped(token);
}

/** The token of a feature: `tokenOfFeature(featureOfToken(t)) = t`. */
export function tokenOfFeature(feature: string): string {
  if (!feature.startsWith(MARKER)) return feature;
  return feature
    .slice(MARKER.length)
    .replace(/%([0-9A-F]{4})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
}

/** The name of a declared field as a property of a mapping: dots would make objects of it. */
export function propertyOfField(name: string): string {
  return PLAIN_FIELD.test(name) ? name : MARKER + escaped(name);
}

function escaped(text: string): string {
  return Array.from({ length: text.length }, (_, i) => {
    const unit = text.charCodeAt(i);
    const isPlain = /[A-Za-z0-9#_-]/.test(text[i]);
    return isPlain ? text[i] : `%${unit.toString(16).toUpperCase().padStart(4, '0')}`;
  }).join('');
}
