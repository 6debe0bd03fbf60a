package dev.warmpath.simulator.bench.generate;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.kvindex.IndexLimits;
import dev.warmpath.kvindex.KvIndex;
import dev.warmpath.kvindex.runs.RunKvIndex;
import dev.warmpath.simulator.bench.corpus.Corpus;
import dev.warmpath.simulator.bench.corpus.CorpusSource;
import dev.warmpath.simulator.bench.corpus.ExactAnswers;
import dev.warmpath.simulator.bench.generate.fleet.Ballast;
import dev.warmpath.simulator.bench.generate.fleet.FleetPlan;
import dev.warmpath.simulator.bench.generate.fleet.GeneratedCorpus;
import dev.warmpath.simulator.bench.generate.fleet.HybridCorpus;
import dev.warmpath.simulator.bench.generate.fleet.HybridPlan;
import dev.warmpath.simulator.bench.generate.requests.ChatRequests;
import dev.warmpath.simulator.bench.generate.requests.SiblingBursts;
import dev.warmpath.simulator.bench.index.IndexBench;
import dev.warmpath.simulator.bench.wpix.WpixFile;
import dev.warmpath.simulator.bench.wpix.WpixWriter;
import java.io.IOException;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Small corpora of each kind; their sums come from books that know no index. */
final class CorporaTest {

  @TempDir Path folder;

  static Stream<CorpusSource> withOneGroup() {
    ChatRequests chats = new ChatRequests(250, 8, 30, 5);
    FleetPlan plan = FleetPlan.of(5, 1_024);
    return Stream.of(
        new GeneratedCorpus("chats", chats, plan),
        new GeneratedCorpus("single removals", chats, plan.withSingleRemovals()),
        new GeneratedCorpus("more engines than a word has bits", chats, FleetPlan.of(70, 1_024)),
        new GeneratedCorpus("ballast", chats, plan, new Ballast(13)),
        new GeneratedCorpus("own hashes", chats, plan.withOwnHashes()),
        new GeneratedCorpus("holes", chats, plan.withHoles(0.02)),
        new GeneratedCorpus("bursts", new SiblingBursts(250, 5), plan));
  }

  static Stream<CorpusSource> all() {
    ChatRequests chats = new ChatRequests(250, 8, 30, 5);
    return Stream.concat(
        withOneGroup(), Stream.of(new HybridCorpus("hybrid", chats, new HybridPlan(4, 1_024, 64))));
  }

  private static KvIndex index() {
    return new RunKvIndex(IndexLimits.unbounded(1000));
  }

  @ParameterizedTest
  @MethodSource("all")
  void theIndexAnswersAsTheBooksSay(CorpusSource source) throws Exception {
    Corpus corpus = Corpus.of(source);
    assertThat(corpus.answers().interleaved().nonzero()).isPositive();
    assertThat(corpus.answers().atEnd().nonzero()).isPositive();
    assertThat(new IndexBench(CorporaTest::index, Thread::new, line -> {}).round(corpus).exact())
        .isTrue();
  }

  @ParameterizedTest
  @MethodSource("withOneGroup")
  void theFileSaysTheSame(CorpusSource source) throws IOException {
    Path file = folder.resolve("written.wpix");
    ExactAnswers answers;
    try (WpixWriter writer = WpixWriter.create(file)) {
      answers = source.feed(writer);
    }
    Corpus read = Corpus.of(new WpixFile(file));
    assertThat(read.answers()).isEqualTo(answers);
    assertThat(read.records()).isEqualTo(Corpus.of(source).records());
  }

  @ParameterizedTest
  @EnumSource(value = Cell.class, names = "C", mode = EnumSource.Mode.EXCLUDE)
  void eachCellHasEventsAndAnswers(Cell cell) throws IOException {
    Corpus corpus = Corpus.of(Corpora.cell(cell, new CellOptions(3, 60, null)));
    assertThat(corpus.workers()).isEqualTo(3);
    assertThat(corpus.queries()).isEqualTo(60);
    assertThat(corpus.answers().interleaved().scores()).isPositive();
  }
}
