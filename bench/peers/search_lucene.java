import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.apache.lucene.analysis.TokenStream;
import org.apache.lucene.analysis.tokenattributes.CharTermAttribute;
import org.apache.lucene.analysis.tokenattributes.TermFrequencyAttribute;
import org.apache.lucene.document.Document;
import org.apache.lucene.document.Field;
import org.apache.lucene.document.FieldType;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.FieldInvertState;
import org.apache.lucene.index.IndexOptions;
import org.apache.lucene.index.IndexWriter;
import org.apache.lucene.index.IndexWriterConfig;
import org.apache.lucene.index.LogDocMergePolicy;
import org.apache.lucene.index.SerialMergeScheduler;
import org.apache.lucene.index.Term;
import org.apache.lucene.search.BooleanClause;
import org.apache.lucene.search.BooleanQuery;
import org.apache.lucene.search.BoostQuery;
import org.apache.lucene.search.CollectionStatistics;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.Query;
import org.apache.lucene.search.ScoreDoc;
import org.apache.lucene.search.TermQuery;
import org.apache.lucene.search.TermStatistics;
import org.apache.lucene.search.TopScoreDocCollectorManager;
import org.apache.lucene.search.similarities.Similarity;
import org.apache.lucene.store.MMapDirectory;

/**
 * Lucene's impact search, exact, on one thread over one segment in memory-mapped files: weights are term frequencies, the
 * score is boost times frequency, as in Anserini's (and so Pyserini's) impact search. Speaks the lines that
 * search_files.py describes. A setting is how many hits are counted before documents may be skipped; 1000 is Lucene's own.
 *
 *   java --class-path lucene-core.jar search_lucene.java FOLDER
 */
class SearchLucene {
  static final String FIELD = "vector";

  public static void main(String[] args) throws Exception {
    Path folder = Path.of(args[0]);
    Vectors documents = new Vectors(folder, "");
    Vectors vectors = new Vectors(folder, "query-");
    List<Query> queries = new ArrayList<>();
    for (int i = 0; i < vectors.size(); i++) queries.add(query(vectors, i));
    IndexSearcher searcher = null;
    System.out.println("{\"ready\": true}");
    BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    for (String line; (line = in.readLine()) != null; ) {
      if (!line.contains("\"build\"")) {
        System.out.println(measure(searcher, queries, line));
        continue;
      }
      long start = System.nanoTime();
      Path index = folder.resolve("peer");
      searcher = build(index, documents);
      double ms = (System.nanoTime() - start) / 1e6;
      System.out.println("{\"ms\": " + ms + ", \"sizeBytes\": " + sizeOf(index) + ", \"settings\": [\"counts 1000\", \"counts 1\"]}");
    }
  }

  static IndexSearcher build(Path folder, Vectors documents) throws IOException {
    MMapDirectory directory = new MMapDirectory(folder);
    // Merges of neighbours only: a document keeps its number.
    IndexWriterConfig config = new IndexWriterConfig()
        .setSimilarity(new Impact()).setMergePolicy(new LogDocMergePolicy())
        .setMergeScheduler(new SerialMergeScheduler()).setRAMBufferSizeMB(1024).setUseCompoundFile(false);
    FieldType type = new FieldType();
    type.setIndexOptions(IndexOptions.DOCS_AND_FREQS);
    type.setOmitNorms(true);
    type.setTokenized(true);
    type.freeze();
    try (IndexWriter writer = new IndexWriter(directory, config)) {
      VectorTokens tokens = new VectorTokens(documents);
      for (int doc = 0; doc < documents.size(); doc++) {
        Document document = new Document();
        document.add(new Field(FIELD, tokens.of(doc), type));
        writer.addDocument(document);
      }
      writer.forceMerge(1);
    }
    IndexSearcher searcher = new IndexSearcher(DirectoryReader.open(directory));
    searcher.setSimilarity(new Impact());
    searcher.setQueryCache(null);
    return searcher;
  }

  static String measure(IndexSearcher searcher, List<Query> queries, String request) throws IOException {
    int k = number(request, "k");
    int counted = request.contains("\"counts 1\"") ? 1 : 1000;
    List<ScoreDoc[]> found = new ArrayList<>();
    StringBuilder us = new StringBuilder();
    long begin = System.nanoTime();
    for (Query query : queries.subList(0, number(request, "numQueries"))) {
      long start = System.nanoTime();
      found.add(searcher.search(query, new TopScoreDocCollectorManager(k, counted)).scoreDocs);
      double time = (System.nanoTime() - start) / 1e3;
      us.append(us.isEmpty() ? "" : ", ").append(String.format(Locale.ROOT, "%.2f", time));
    }
    double ms = (System.nanoTime() - begin) / 1e6;
    Matcher results = Pattern.compile("\"results\":\"([^\"]*)\"").matcher(request);
    if (results.find()) write(results.group(1), found, k);
    return "{\"ms\": " + ms + ", \"us\": [" + us + "]}";
  }

  static int number(String request, String name) {
    Matcher value = Pattern.compile("\"" + name + "\":(\\d+)").matcher(request);
    value.find();
    return Integer.parseInt(value.group(1));
  }

  static void write(String path, List<ScoreDoc[]> found, int k) throws IOException {
    ByteBuffer ids = ByteBuffer.allocate(4 * k * found.size()).order(ByteOrder.LITTLE_ENDIAN);
    ByteBuffer scores = ByteBuffer.allocate(4 * k * found.size()).order(ByteOrder.LITTLE_ENDIAN);
    for (ScoreDoc[] hits : found)
      for (int i = 0; i < k; i++) {
        ids.putInt(i < hits.length ? hits[i].doc : -1);
        scores.putFloat(i < hits.length ? hits[i].score : 0);
      }
    Files.write(Path.of(path + ".ids"), ids.array());
    Files.write(Path.of(path + ".scores"), scores.array());
  }

  static Query query(Vectors vectors, int i) {
    BooleanQuery.Builder builder = new BooleanQuery.Builder();
    for (int at = vectors.start(i); at < vectors.start(i + 1); at++) {
      TermQuery term = new TermQuery(new Term(FIELD, Integer.toString(vectors.term(at))));
      builder.add(new BoostQuery(term, vectors.code(at)), BooleanClause.Occur.SHOULD);
    }
    return builder.build();
  }

  static long sizeOf(Path folder) throws IOException {
    try (Stream<Path> files = Files.list(folder)) {
      return files.mapToLong(file -> file.toFile().length()).sum();
    }
  }

  /** Documents or queries, mapped from the files of bench/lib/search-files.ts. */
  static class Vectors {
    final ByteBuffer offsets;
    final ByteBuffer terms;
    final ByteBuffer codes;

    Vectors(Path folder, String prefix) throws IOException {
      offsets = map(folder.resolve(prefix + "offsets.u32"));
      terms = map(folder.resolve(prefix + "terms.u16"));
      codes = map(folder.resolve(prefix + "codes.u8"));
    }

    static ByteBuffer map(Path path) throws IOException {
      try (FileChannel file = FileChannel.open(path)) {
        return file.map(FileChannel.MapMode.READ_ONLY, 0, file.size()).order(ByteOrder.LITTLE_ENDIAN);
      }
    }

    int size() {
      return offsets.capacity() / 4 - 1;
    }

    int start(int i) {
      return offsets.getInt(4 * i);
    }

    int term(int at) {
      return terms.getShort(2 * at) & 0xFFFF;
    }

    int code(int at) {
      return codes.get(at) & 0xFF;
    }
  }

  /** A document's terms with their weights as frequencies. One object serves all documents. */
  static class VectorTokens extends TokenStream {
    final CharTermAttribute term = addAttribute(CharTermAttribute.class);
    final TermFrequencyAttribute frequency = addAttribute(TermFrequencyAttribute.class);
    final Vectors vectors;
    int at;
    int end;

    VectorTokens(Vectors vectors) {
      this.vectors = vectors;
    }

    VectorTokens of(int doc) {
      at = vectors.start(doc);
      end = vectors.start(doc + 1);
      return this;
    }

    @Override
    public final boolean incrementToken() {
      if (at == end) return false;
      clearAttributes();
      term.append(Integer.toString(vectors.term(at)));
      frequency.setTermFrequency(vectors.code(at));
      at++;
      return true;
    }
  }

  /** Score = boost · frequency. */
  static class Impact extends Similarity {
    @Override
    public long computeNorm(FieldInvertState state) {
      return 1;
    }

    @Override
    public SimScorer scorer(float boost, CollectionStatistics collection, TermStatistics... terms) {
      return new SimScorer() {
        @Override
        public float score(float frequency, long norm) {
          return boost * frequency;
        }
      };
    }
  }
}
