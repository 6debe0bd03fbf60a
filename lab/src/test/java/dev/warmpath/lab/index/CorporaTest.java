package dev.warmpath.lab.index;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.kvindex.IndexLimits;
import dev.warmpath.kvindex.KvIndex;
import dev.warmpath.kvindex.runs.RunKvIndex;
import dev.warmpath.lab.index.Corpus.CorpusSource;
import dev.warmpath.simulator.trace.Trace;
import java.io.IOException;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Small corpora of each kind; their sums are what the engines themselves would reuse. */
final class CorporaTest {

  private static final Trace CHATS = new Corpora.SyntheticChats(250, 8, 30, 5).trace();

  @TempDir Path folder;

  static Stream<CorpusSource> withOneGroup() {
    Corpora.RecordedFleet fleet = Corpora.RecordedFleet.of(5, 1_024);
    return Stream.of(
        new Corpora.RecordedCorpus("chats", CHATS, fleet),
        new Corpora.RecordedCorpus("single removals", CHATS, fleet.withSingleRemovals()),
        new Corpora.RecordedCorpus("many engines", CHATS, Corpora.RecordedFleet.of(70, 1_024)),
        new Corpora.RecordedCorpus("ballast", CHATS, fleet.withBallast(13)),
        new Corpora.RecordedCorpus("own hashes", CHATS, fleet.withOwnHashes()),
        new Corpora.RecordedCorpus("holes", CHATS, fleet.losing(0.02)),
        new Corpora.RecordedCorpus("bursts", new Corpora.SiblingBursts(250, 5).trace(), fleet));
  }

  static Stream<CorpusSource> all() {
    Corpora.RecordedFleet hybrid = Corpora.RecordedFleet.hybrid(4, 1_024, 64);
    return Stream.concat(
        withOneGroup(), Stream.of(new Corpora.RecordedCorpus("hybrid", CHATS, hybrid)));
  }

  private static KvIndex index() {
    return new RunKvIndex(IndexLimits.unbounded(1000));
  }

  @ParameterizedTest
  @MethodSource("all")
  void theIndexAnswersAsTheEnginesDo(CorpusSource source) throws Exception {
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
    try (WpixFile.WpixWriter writer = WpixFile.WpixWriter.create(file)) {
      answers = source.feed(writer);
    }
    Corpus read = Corpus.of(new WpixFile(file));
    assertThat(read.answers()).isEqualTo(answers);
    assertThat(read.records()).isEqualTo(Corpus.of(source).records());
  }

  @ParameterizedTest
  @EnumSource(
      value = Corpora.SyntheticCell.class,
      names = "BALLAST",
      mode = EnumSource.Mode.EXCLUDE)
  void eachCellHasEventsAndAnswers(Corpora.SyntheticCell cell) throws Exception {
    Corpus corpus = Corpus.of(Corpora.cell(cell, new Corpora.CellOptions(3, 60, null)));
    assertThat(corpus.workers()).isEqualTo(3);
    assertThat(corpus.queries()).isEqualTo(60);
    assertThat(corpus.answers().interleaved().scores()).isPositive();
  }
}
