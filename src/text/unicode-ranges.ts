/**
 * Characters that BERT's normaliser and pre-tokenizer treat specially, as Hugging Face's Rust tokenizers
 * 0.23.3 does: made by scripts/golden-text.py, not by hand. Its Unicode tables are older than any engine's
 * `\p{…}`, so those would differ, and differ from engine to engine.
 */

/** Ranges by ascending code point, "gap.length" in base 36: gap from the end of the range before. */
export const UNICODE_RANGES = {
  /** Dropped by `clean_text`: control, format and private-use characters, U+0000 and U+FFFD. */
  removed:
    '0.9 2.2 1.i 2n.x d.1 11u.6 m.1 5c.1 1d.1 3cu.1 1ks.5 q.5 1d.5 1.a 11u8.4xs 16n.1 6x.3 1.1 3b3.1 xya.4 43z.8 h406.1 u.2o 1egw.1eke 2.1eke',
  /** Ends a word. */
  whitespace: '9.5 i.1 2s.1 q.1 4bj.1 1vj.b t.2 5.1 1b.1 334.1',
  /** A word of its own: the punctuation of Unicode 8, and all ASCII symbols. */
  punctuation:
    'x.f a.7 q.6 q.4 y.1 5.1 3.1 a.2 3.1 3.1 ji.1 8.1 cy.6 15.2 1f.1 1.1 2.1 2.1 18.2 k.2 1.2 d.1 2.2 22.4 2u.1 17.e 6h.3 1i.f v.1 79.2 a.1 an.1 lf.1 2i.1 a.2 4o.f 1.1 11.4 1z.1 22.5 4.2 33.6 4r.1 h0.9 47.1 h8.2 18.2 26.3 1z.2 4d.3 1.3 11.b 8p.2 60.2 3k.7 1.6 4s.7 4b.4 1n.5 1q.2 1s.8 b.1 n0.o 8.k 1.d 1.c u.2 e.2 hl.4 t.2 u5.e 27.2 v.a b7.m 1r.4 w.2 l7.4 1.2 34.1 3z.1b 1.j ce.3 4.a 2.c g.1 c.1 2q.1 2i.1 mwy.2 7h.3 2r.1 a.1 37.6 ak.4 2e.2 14.3 1.1 1d.2 1b.1 2p.d g.2 3g.4 3i.2 g.2 6x.1 g2a.2 5s.a m.z 1.e 1.1 4.1 1.2 45.3 1.6 1.4 a.2 3.2 q.3 1.1 r.1 1.1 1.7 be.3 ik.1 1c.1 bi.1 kn.1 5j.1 v.1 7k.9 12.1 34.7 1u.7 2h.4 x6.7 31.2 1.4 3i.4 1c.2 27.5 3.1 d.1 1.3 2g.6 2z.1 f0.1 6y.n 2x.3 6w.3 2lt.5 dtl.2 3p.1 1t.5 8.1 g2i.1 5wn.5',
  /** Dropped by `strip_accents` after canonical decomposition: the nonspacing marks of Unicode 8. */
  nonspacing:
    'lc.34 7n.5 7d.19 1.1 1.2 1.2 1.1 20.b 1c.l g.1 2t.7 2.6 2.2 1.4 z.1 u.r 2j.b 1m.9 y.4 1.9 1.3 1.5 17.3 3r.w 1j.1 1.1 4.8 4.1 3.7 a.2 t.1 1m.1 4.4 8.1 k.2 t.2 1l.1 4.2 4.2 2.3 3.1 u.2 3.1 b.2 1l.1 4.5 1.2 4.1 k.2 t.1 1m.1 2.1 1.4 8.1 8.1 b.2 u.1 1p.1 c.1 1e.1 1p.3 5.3 1.4 7.2 b.2 t.1 1m.1 2.1 6.1 5.2 k.2 t.1 1r.4 8.1 k.2 2u.1 7.3 1.1 2i.1 2.7 c.8 2q.1 2.6 1.2 b.6 22.2 r.1 1.1 1.1 1j.e 1.5 1.2 5.b 1.10 9.1 2u.4 1.6 1.2 2.2 p.2 4.3 g.4 d.1 2.2 6.1 f.1 jj.3 qa.3 t.3 t.2 u.2 1s.2 1.7 8.1 2.b 9.1 19.3 4b.1 3a.3 4.2 9.1 6.3 63.2 2.1 1m.1 1.7 1.1 1.1 2.8 6.a 2.1 1c.e 1u.4 1c.1 1.5 1.1 5.1 14.9 c.2 w.4 2.2 1.3 1k.1 1.2 3.1 1.3 1m.8 2.2 48.3 1.d 1.7 4.1 6.1 3.2 5i.1i 6.4 k0.d 4.1 3.c 2da.3 3x.1 2o.w fe.4 2z.2 n9w.1 4.a w.2 28.2 7k.1 3.1 4.1 p.2 4d.1 r.i 1g.8 p.b 1a.3 1c.1 2.4 2.1 14.1 1v.6 2.2 2.2 c.1 8.1 1b.1 1f.1 1.3 2.2 5.2 1.1 16.2 8.1 6m.1 2.1 4.1 fn4.1 kh.g g.g r1.1 6a.1 45.5 1ae.3 1.2 5.4 14.3 4.1 4l.2 10a.1 1i.f 1k.3 1d.4 2.2 1x.3 10.5 1.8 1q.1 c.2 1g.9 b.3 2q.3 2.1 1.2 4n.1 3.8 l.2 1m.1 3.1 11.7 3.5 8u.6 1.1 4.2 1.2 6m.4 6.2 1.2 r.2 2d.8 2.1 1.2 2y.1 1.1 2.6 1.1 2t.3 2.4 1.5 gjo.5 1n.7 uw.4 f7u.2 43s.3 h.8 2.7 u.4 44.3 1iz.1j 4.1e 8.1 e.1 m.5 1.f 2sg.7 gzl5.6o',
  /** Set apart by spaces: the CJK ideographs as the original BERT listed them. */
  chinese: 'a9s.534 1s.g74 hkw.e8 1fk0.wyo w.3ds 74.49c 85s.f4',
} as const;
