/** What the search box says, in several languages. A page may replace any of it. Knows nothing of the DOM. */

/** Forms of a phrase by number, as the language has them; {n} is the number. */
export type Forms = { readonly other: string } & Readonly<Partial<Record<Intl.LDMLPluralRule, string>>>;

/** Everything that people read or hear. */
export type Strings = {
  /** Name of the box. */
  readonly label: string;
  readonly placeholder: string;
  readonly clear: string;
  readonly close: string;
  /** Name of the list. */
  readonly results: string;
  readonly count: Forms;
  /** {query} is what was asked. */
  readonly none: string;
  readonly noneHint: string;
  readonly loading: string;
  readonly searching: string;
  readonly offline: string;
  readonly damaged: string;
  readonly failed: string;
  readonly retry: string;
  readonly filters: string;
  /** Of a filter: every value. */
  readonly all: string;
  readonly why: string;
  /** Names the list of results in the panel that explains them. */
  readonly explained: string;
  readonly token: string;
  readonly inQuery: string;
  readonly onPage: string;
  readonly product: string;
  readonly score: string;
  /** What ≈ before a token means. */
  readonly byMeaning: string;
  /** {terms} are tokens of the query that the page lacks. */
  readonly missing: string;
};

const en: Strings = {
  label: 'Search this site',
  placeholder: 'Search',
  clear: 'Clear',
  close: 'Close search',
  results: 'Search results',
  count: { one: '{n} result', other: '{n} results' },
  none: 'No results for “{query}”',
  noneHint: 'Try other words, or fewer of them.',
  loading: 'Loading the search index …',
  searching: 'Searching …',
  offline: 'The search index cannot be reached. Are you offline?',
  damaged: 'The search index of this site is damaged.',
  failed: 'The search has failed.',
  retry: 'Try again',
  filters: 'Filters',
  all: 'All',
  why: 'Why this result?',
  explained: 'Result explained',
  token: 'Token',
  inQuery: 'Query',
  onPage: 'Page',
  product: 'Product',
  score: 'Score',
  byMeaning: '≈ is not in the passage shown: found by the meaning of the page, or further on in it.',
  missing: 'Not on this page: {terms}',
};

const de: Strings = {
  label: 'Diese Website durchsuchen',
  placeholder: 'Suchen',
  clear: 'Leeren',
  close: 'Suche schließen',
  results: 'Suchergebnisse',
  count: { one: '{n} Ergebnis', other: '{n} Ergebnisse' },
  none: 'Keine Ergebnisse für „{query}“',
  noneHint: 'Versuchen Sie es mit anderen oder weniger Wörtern.',
  loading: 'Suchindex wird geladen …',
  searching: 'Suche läuft …',
  offline: 'Der Suchindex ist nicht erreichbar. Sind Sie offline?',
  damaged: 'Der Suchindex dieser Website ist beschädigt.',
  failed: 'Die Suche ist fehlgeschlagen.',
  retry: 'Erneut versuchen',
  filters: 'Filter',
  all: 'Alle',
  why: 'Warum dieses Ergebnis?',
  explained: 'Erklärtes Ergebnis',
  token: 'Token',
  inQuery: 'Anfrage',
  onPage: 'Seite',
  product: 'Produkt',
  score: 'Punktzahl',
  byMeaning:
    '≈ steht nicht in der gezeigten Passage: gefunden durch die Bedeutung der Seite oder weiter unten im Text.',
  missing: 'Nicht auf dieser Seite: {terms}',
};

const fr: Strings = {
  label: 'Rechercher sur ce site',
  placeholder: 'Rechercher',
  clear: 'Effacer',
  close: 'Fermer la recherche',
  results: 'Résultats de la recherche',
  count: { one: '{n} résultat', other: '{n} résultats' },
  none: 'Aucun résultat pour « {query} »',
  noneHint: 'Essayez avec d’autres mots, ou moins de mots.',
  loading: 'Chargement de l’index de recherche …',
  searching: 'Recherche en cours …',
  offline: 'L’index de recherche est inaccessible. Êtes-vous hors ligne ?',
  damaged: 'L’index de recherche de ce site est endommagé.',
  failed: 'La recherche a échoué.',
  retry: 'Réessayer',
  filters: 'Filtres',
  all: 'Tous',
  why: 'Pourquoi ce résultat ?',
  explained: 'Résultat expliqué',
  token: 'Jeton',
  inQuery: 'Requête',
  onPage: 'Page',
  product: 'Produit',
  score: 'Score',
  byMeaning: '≈ n’est pas dans le passage affiché : trouvé par le sens de la page, ou plus loin dans son texte.',
  missing: 'Absents de cette page : {terms}',
};

const es: Strings = {
  label: 'Buscar en este sitio',
  placeholder: 'Buscar',
  clear: 'Borrar',
  close: 'Cerrar la búsqueda',
  results: 'Resultados de la búsqueda',
  count: { one: '{n} resultado', other: '{n} resultados' },
  none: 'No hay resultados para «{query}»',
  noneHint: 'Pruebe con otras palabras, o con menos.',
  loading: 'Cargando el índice de búsqueda …',
  searching: 'Buscando …',
  offline: 'No se puede acceder al índice de búsqueda. ¿Está sin conexión?',
  damaged: 'El índice de búsqueda de este sitio está dañado.',
  failed: 'La búsqueda ha fallado.',
  retry: 'Reintentar',
  filters: 'Filtros',
  all: 'Todos',
  why: '¿Por qué este resultado?',
  explained: 'Resultado explicado',
  token: 'Token',
  inQuery: 'Consulta',
  onPage: 'Página',
  product: 'Producto',
  score: 'Puntuación',
  byMeaning:
    '≈ no está en el pasaje mostrado: se encontró por el significado de la página, o más adelante en su texto.',
  missing: 'No están en esta página: {terms}',
};

const ja: Strings = {
  label: 'サイト内を検索',
  placeholder: '検索',
  clear: 'クリア',
  close: '検索を閉じる',
  results: '検索結果',
  count: { other: '{n} 件の結果' },
  none: '「{query}」に一致する結果はありません',
  noneHint: '別の言葉、または少ない言葉でお試しください。',
  loading: '検索インデックスを読み込んでいます…',
  searching: '検索しています…',
  offline: '検索インデックスに接続できません。オフラインではありませんか?',
  damaged: 'このサイトの検索インデックスは壊れています。',
  failed: '検索に失敗しました。',
  retry: '再試行',
  filters: '絞り込み',
  all: 'すべて',
  why: 'この結果の理由',
  explained: '説明する結果',
  token: 'トークン',
  inQuery: 'クエリ',
  onPage: 'ページ',
  product: '積',
  score: 'スコア',
  byMeaning: '≈ は表示箇所にない語です。ページの意味、または本文の別の箇所から見つかりました。',
  missing: 'このページにない語: {terms}',
};

const ar: Strings = {
  label: 'البحث في هذا الموقع',
  placeholder: 'بحث',
  clear: 'مسح',
  close: 'إغلاق البحث',
  results: 'نتائج البحث',
  count: {
    zero: 'لا نتائج',
    one: 'نتيجة واحدة',
    two: 'نتيجتان',
    few: '{n} نتائج',
    many: '{n} نتيجة',
    other: '{n} نتيجة',
  },
  none: 'لا توجد نتائج عن «{query}»',
  noneHint: 'جرّب كلمات أخرى أو كلمات أقل.',
  loading: 'جارٍ تحميل فهرس البحث …',
  searching: 'جارٍ البحث …',
  offline: 'تعذّر الوصول إلى فهرس البحث. هل أنت غير متصل بالإنترنت؟',
  damaged: 'فهرس البحث في هذا الموقع تالف.',
  failed: 'فشل البحث.',
  retry: 'إعادة المحاولة',
  filters: 'عوامل التصفية',
  all: 'الكل',
  why: 'لماذا هذه النتيجة؟',
  explained: 'النتيجة المشروحة',
  token: 'الرمز',
  inQuery: 'الاستعلام',
  onPage: 'الصفحة',
  product: 'الجداء',
  score: 'الدرجة',
  byMeaning: '≈ ليس في المقطع المعروض: عُثر عليه من معنى الصفحة أو من موضع آخر في نصها.',
  missing: 'ليس في هذه الصفحة: {terms}',
};

/** By the first part of a language tag. */
export const LANGUAGES: Readonly<Record<string, Strings>> = { en, de, fr, es, ja, ar };

/** The strings of a language such as `de` or `de-AT`, English for others, with what the page has of its own. */
export function stringsFor(language: string, own: Partial<Strings> = {}): Strings {
  return { ...(LANGUAGES[language.toLowerCase().split('-')[0]] ?? en), ...own };
}

/** A phrase with its places filled. */
export function filled(phrase: string, values: Readonly<Record<string, string>>): string {
  return phrase.replace(/\{(\w+)\}/g, (place, name: string) => values[name] ?? place);
}

/** A phrase for a number, as the language counts. */
export function counted(forms: Forms, n: number, language: string): string {
  const form = forms[new Intl.PluralRules(language).select(n)] ?? forms.other;
  return filled(form, { n: new Intl.NumberFormat(language).format(n) });
}
