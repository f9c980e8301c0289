import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.lang.reflect.Method;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;
import org.apache.lucene.analysis.Analyzer;
import org.apache.lucene.analysis.CharArraySet;
import org.apache.lucene.analysis.LowerCaseFilter;
import org.apache.lucene.analysis.StopFilter;
import org.apache.lucene.analysis.TokenStream;
import org.apache.lucene.analysis.Tokenizer;
import org.apache.lucene.analysis.en.EnglishAnalyzer;
import org.apache.lucene.analysis.en.EnglishPossessiveFilter;
import org.apache.lucene.analysis.en.PorterStemFilter;
import org.apache.lucene.analysis.standard.StandardTokenizer;
import org.apache.lucene.analysis.tokenattributes.CharTermAttribute;
import org.apache.lucene.document.Document;
import org.apache.lucene.document.Field;
import org.apache.lucene.document.StringField;
import org.apache.lucene.document.TextField;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.IndexWriter;
import org.apache.lucene.index.IndexWriterConfig;
import org.apache.lucene.index.NoMergePolicy;
import org.apache.lucene.index.Term;
import org.apache.lucene.search.BooleanClause;
import org.apache.lucene.search.BooleanQuery;
import org.apache.lucene.search.BoostQuery;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.ScoreDoc;
import org.apache.lucene.search.TermQuery;
import org.apache.lucene.search.similarities.BM25Similarity;
import org.apache.lucene.store.ByteBuffersDirectory;
import org.apache.lucene.util.Version;

/**
 * Lucene as an oracle: lines in, lines out. scripts/golden-lucene.ts asks it and writes what it says.
 *
 *   java --class-path lucene-core.jar:lucene-analysis-common.jar scripts/golden-lucene.java MODE
 *
 *   classes              the character classes of StandardTokenizer: "class first last", code points in decimal
 *   tokens STOP STEM     one JSON string a line -> its tokens, a space between two; STOP, STEM: true or false
 *   lower                one JSON string a line -> each character lower-cased as LowerCaseFilter does
 *   search K1 B K        "D json" adds a document, "C" ends a segment, "X n" deletes document n, "Q json" searches:
 *                        answers "doc:score doc:score ..."
 */
class GoldenLucene {
  public static void main(String[] args) throws Exception {
    PrintStream out = new PrintStream(System.out, false, StandardCharsets.UTF_8);
    BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    switch (args[0]) {
      case "classes" -> classes(out);
      case "tokens" -> tokens(in, out, analyzer(Boolean.parseBoolean(args[1]), Boolean.parseBoolean(args[2])));
      case "lower" -> lower(in, out);
      case "search" -> search(in, out, args);
      case "version" -> out.println(Version.LATEST + "\t" + System.getProperty("java.version"));
      default -> throw new IllegalArgumentException(args[0]);
    }
    out.flush();
  }

  /** The equivalence classes that JFlex found: characters of one class can nowhere be told apart by the grammar. */
  static void classes(PrintStream out) throws Exception {
    Class<?> scanner = Class.forName("org.apache.lucene.analysis.standard.StandardTokenizerImpl");
    Method classOf = scanner.getDeclaredMethod("zzCMap", int.class);
    classOf.setAccessible(true);
    int first = 0;
    for (int c = 1; c <= 0x110000; c++) {
      Object group = classOf.invoke(null, first);
      if (c < 0x110000 && classOf.invoke(null, c).equals(group)) continue;
      out.println(group + " " + first + " " + (c - 1));
      first = c;
    }
  }

  /** EnglishAnalyzer with parts left out. With all of them it is EnglishAnalyzer itself. */
  static Analyzer analyzer(boolean stop, boolean stem) {
    if (stop && stem) return new EnglishAnalyzer();
    return new Analyzer() {
      @Override
      protected TokenStreamComponents createComponents(String field) {
        Tokenizer source = new StandardTokenizer();
        TokenStream stream = new LowerCaseFilter(new EnglishPossessiveFilter(source));
        stream = new StopFilter(stream, stop ? EnglishAnalyzer.getDefaultStopSet() : CharArraySet.EMPTY_SET);
        return new TokenStreamComponents(source, stem ? new PorterStemFilter(stream) : stream);
      }
    };
  }

  static void tokens(BufferedReader in, PrintStream out, Analyzer analyzer) throws IOException {
    for (String line; (line = in.readLine()) != null; ) {
      StringBuilder joined = new StringBuilder();
      try (TokenStream stream = analyzer.tokenStream("contents", json(line))) {
        CharTermAttribute term = stream.addAttribute(CharTermAttribute.class);
        stream.reset();
        while (stream.incrementToken()) joined.append(joined.length() > 0 ? " " : "").append(term);
        stream.end();
      }
      out.println(joined);
    }
  }

  static void lower(BufferedReader in, PrintStream out) throws IOException {
    for (String line; (line = in.readLine()) != null; ) {
      StringBuilder lowered = new StringBuilder();
      json(line).codePoints().forEach(c -> lowered.appendCodePoint(Character.toLowerCase(c)));
      out.println(lowered);
    }
  }

  static void search(BufferedReader in, PrintStream out, String[] args) throws IOException {
    BM25Similarity similarity = new BM25Similarity(Float.parseFloat(args[1]), Float.parseFloat(args[2]));
    int k = Integer.parseInt(args[3]);
    EnglishAnalyzer analyzer = new EnglishAnalyzer();
    IndexWriterConfig config = new IndexWriterConfig(analyzer).setSimilarity(similarity).setMergePolicy(NoMergePolicy.INSTANCE);
    try (ByteBuffersDirectory directory = new ByteBuffersDirectory(); IndexWriter writer = new IndexWriter(directory, config)) {
      int numDocs = 0;
      for (String line; (line = in.readLine()) != null; ) {
        switch (line.charAt(0)) {
          case 'D' -> writer.addDocument(document(numDocs++, json(line.substring(2))));
          case 'C' -> writer.commit();
          case 'X' -> writer.deleteDocuments(new Term("number", line.substring(2)));
          default -> out.println(answer(writer, similarity, query(analyzer, json(line.substring(2))), k));
        }
      }
    }
  }

  static Document document(int number, String text) {
    Document document = new Document();
    document.add(new StringField("number", Integer.toString(number), Field.Store.NO));
    document.add(new TextField("contents", text, Field.Store.NO));
    return document;
  }

  /** A bag of words, as anserini makes it: every distinct word is a clause, boosted by how often it occurs. */
  static BooleanQuery query(Analyzer analyzer, String text) throws IOException {
    Map<String, Integer> counts = new LinkedHashMap<>();
    try (TokenStream stream = analyzer.tokenStream("contents", text)) {
      CharTermAttribute term = stream.addAttribute(CharTermAttribute.class);
      stream.reset();
      while (stream.incrementToken()) counts.merge(term.toString(), 1, Integer::sum);
      stream.end();
    }
    BooleanQuery.Builder builder = new BooleanQuery.Builder();
    counts.forEach((term, count) ->
        builder.add(new BoostQuery(new TermQuery(new Term("contents", term)), count), BooleanClause.Occur.SHOULD));
    return builder.build();
  }

  static String answer(IndexWriter writer, BM25Similarity similarity, BooleanQuery query, int k) throws IOException {
    try (DirectoryReader reader = DirectoryReader.open(writer)) {
      IndexSearcher searcher = new IndexSearcher(reader);
      searcher.setSimilarity(similarity);
      StringBuilder line = new StringBuilder();
      for (ScoreDoc hit : searcher.search(query, k).scoreDocs)
        line.append(line.length() > 0 ? " " : "").append(hit.doc).append(':').append(hit.score);
      return line.toString();
    }
  }

  /** The string that a JSON string literal stands for. */
  static String json(String literal) {
    StringBuilder text = new StringBuilder();
    for (int i = 1; i < literal.length() - 1; i++) {
      char c = literal.charAt(i);
      if (c != '\\') {
        text.append(c);
        continue;
      }
      c = literal.charAt(++i);
      switch (c) {
        case 'n' -> text.append('\n');
        case 't' -> text.append('\t');
        case 'r' -> text.append('\r');
        case 'b' -> text.append('\b');
        case 'f' -> text.append('\f');
        case 'u' -> {
          text.append((char) Integer.parseInt(literal.substring(i + 1, i + 5), 16));
          i += 4;
        }
        default -> text.append(c);
      }
    }
    return text.toString();
  }
}
