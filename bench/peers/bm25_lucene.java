import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.lucene.analysis.core.WhitespaceAnalyzer;
import org.apache.lucene.document.Document;
import org.apache.lucene.document.Field;
import org.apache.lucene.document.TextField;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.IndexWriter;
import org.apache.lucene.index.IndexWriterConfig;
import org.apache.lucene.index.Term;
import org.apache.lucene.search.BooleanClause;
import org.apache.lucene.search.BooleanQuery;
import org.apache.lucene.search.BoostQuery;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.Query;
import org.apache.lucene.search.ScoreDoc;
import org.apache.lucene.search.TermQuery;
import org.apache.lucene.search.similarities.BM25Similarity;
import org.apache.lucene.store.MMapDirectory;

/**
 * Lucene's BM25 on one thread, over one segment in memory-mapped files. Words come analysed, one document or query a line:
 * only the search is measured. Speaks the lines of bench/lib/contender.ts.
 *
 *   java --class-path lucene-core.jar:lucene-analysis-common.jar bm25_lucene.java FOLDER DOCUMENTS QUERIES
 */
class Bm25Lucene {
  public static void main(String[] args) throws Exception {
    BM25Similarity similarity = new BM25Similarity(0.9f, 0.4f);
    MMapDirectory directory = new MMapDirectory(Path.of(args[0]));
    long start = System.nanoTime();
    IndexWriterConfig config = new IndexWriterConfig(new WhitespaceAnalyzer()).setSimilarity(similarity).setRAMBufferSizeMB(512);
    try (IndexWriter writer = new IndexWriter(directory, config)) {
      for (String line : Files.readAllLines(Path.of(args[1]))) {
        Document document = new Document();
        document.add(new TextField("contents", line, Field.Store.NO));
        writer.addDocument(document);
      }
      writer.forceMerge(1);
    }
    double buildMs = (System.nanoTime() - start) / 1e6;
    List<Query> queries = Files.readAllLines(Path.of(args[2])).stream().map(Bm25Lucene::query).toList();
    IndexSearcher searcher = new IndexSearcher(DirectoryReader.open(directory));
    searcher.setSimilarity(similarity);
    searcher.setQueryCache(null);
    System.out.println("{\"ready\": true, \"buildMs\": " + buildMs + "}");
    BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    for (String line; (line = in.readLine()) != null; ) System.out.println(measure(searcher, queries, line));
  }

  static String measure(IndexSearcher searcher, List<Query> queries, String request) throws Exception {
    int depth = number(request, "k");
    List<Query> asked = queries.subList(number(request, "from"), number(request, "to"));
    long sum = 0;
    long start = System.nanoTime();
    for (Query query : asked)
      for (ScoreDoc hit : searcher.search(query, depth).scoreDocs) sum += hit.doc;
    return "{\"ms\": " + (System.nanoTime() - start) / 1e6 + ", \"sum\": " + sum + "}";
  }

  static int number(String request, String name) {
    Matcher found = Pattern.compile("\"" + name + "\":(\\d+)").matcher(request);
    found.find();
    return Integer.parseInt(found.group(1));
  }

  static Query query(String line) {
    Map<String, Integer> counts = new LinkedHashMap<>();
    for (String word : line.split(" ")) if (!word.isEmpty()) counts.merge(word, 1, Integer::sum);
    BooleanQuery.Builder builder = new BooleanQuery.Builder();
    counts.forEach((word, count) ->
        builder.add(new BoostQuery(new TermQuery(new Term("contents", word)), count), BooleanClause.Occur.SHOULD));
    return builder.build();
  }
}
