package dev.warmpath.simulator.bench.beside;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.warmpath.kvindex.IndexLimits;
import dev.warmpath.kvindex.runs.RunKvIndex;
import dev.warmpath.simulator.bench.corpus.Corpus;
import dev.warmpath.simulator.bench.corpus.ExactAnswers;
import dev.warmpath.simulator.bench.corpus.Sums;
import dev.warmpath.simulator.bench.generate.Cell;
import dev.warmpath.simulator.bench.generate.CellOptions;
import dev.warmpath.simulator.bench.generate.Corpora;
import dev.warmpath.simulator.bench.index.IndexBench;
import dev.warmpath.simulator.statistics.Percentiles;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The peers are scripts here that print what the real programs print. */
final class PeerTest {

  private static final ExactAnswers ANSWERS =
      new ExactAnswers(new Sums(21, 13, 8), new Sums(34, 21, 9), 100);

  private static final String BULK =
      """
      kv-index ChainIndex mode bulk feed queue corpus x.wpix
      events 33321 (stored 7 removed 4 blocks, 0 refused) in 0.195 s wall (enqueue 0.008), \
      0.139 s cpu: 171043 events/s 6452279 blocks/s wall, 9074939 blocks/cpu-s, 155 ns/block wall
      pass 1: 5 queries 1/s wall 1/cpu-s; mean 0.77 p50 0.61 p90 1.21 p99 2.22 p99.9 3.23 \
      max 241.50 us; sum_scores 34 sum_best 21 nonzero 9
      score_into (no result map): mean 0.22 p50 0.16 p90 0.40 p99 0.77 p99.9 1.22 \
      max 38.69 us; sum_scores 34 sum_best 21 nonzero 9
      """;

  private static final String INTERLEAVED =
      "interleaved: 5 queries; mean 0.97 p50 0.78 p90 1.41 p99 2.78 p99.9 6.77 max 67.17 us;"
          + " sum_scores 21 sum_best 13 nonzero 8\n";

  private static final String MEM =
      "memberships 100: live heap 6752 B = 67.5 B/membership; RSS growth 1 B = 62.6 B/membership\n";

  @TempDir Path folder;

  @BeforeEach
  void install() throws IOException {
    Files.createDirectory(folder.resolve("bin"));
    for (String program : List.of("smgidx", "crtc", "smgidx-ca", "crtc-ca")) {
      install(program, BULK);
    }
  }

  @Test
  void readsWhatThePeerPrints() throws Exception {
    Peer smgidx = Peer.in(folder).get(0);
    assertThat(smgidx.run(Path.of("x.wpix"), ANSWERS))
        .isEqualTo(
            new PeerFigures(
                true,
                6452279,
                9074939,
                new Percentiles(160, 770, 1220),
                new Percentiles(780, 2780, 6770),
                67.5));
    Peer crtc = Peer.in(folder).get(1);
    assertThat(crtc.run(Path.of("x.wpix"), ANSWERS).queryFinalNanos())
        .isEqualTo(new Percentiles(610, 2220, 3230));
  }

  @Test
  void seesThatThePeerIsNotExact() throws Exception {
    ExactAnswers others = new ExactAnswers(new Sums(21, 13, 9), ANSWERS.atEnd(), 100);
    assertThat(Peer.in(folder).get(0).run(Path.of("x.wpix"), others).exact()).isFalse();
  }

  @Test
  void saysWhatIsMissing() throws IOException {
    install("smgidx", "something else\n");
    assertThatThrownBy(() -> Peer.in(folder).get(0).run(Path.of("x.wpix"), ANSWERS))
        .isInstanceOf(PeerException.class)
        .hasMessageContaining("bin/smgidx x.wpix bulk: no line 'score_into ")
        .hasMessageContaining("something else");
    Files.writeString(folder.resolve("bin/smgidx"), "#!/bin/sh\nexit 7\n");
    assertThatThrownBy(() -> Peer.in(folder).get(0).run(Path.of("x.wpix"), ANSWERS))
        .isInstanceOf(PeerException.class)
        .hasMessageEndingWith("smgidx x.wpix bulk: exit code 7");
    Files.delete(folder.resolve("bin/crtc-ca"));
    assertThatThrownBy(() -> Peer.in(folder))
        .isInstanceOf(PeerException.class)
        .hasMessageContaining("no program ")
        .hasMessageEndingWith("crtc-ca");
  }

  @Test
  void printsAllRoundsAndTheirRatios() throws Exception {
    Corpus corpus = Corpus.of(Corpora.cell(Cell.F, new CellOptions(2, 40, null)));
    IndexBench bench =
        new IndexBench(() -> new RunKvIndex(IndexLimits.unbounded(1000)), Thread::new, line -> {});
    List<Peer> peers = Peer.in(folder);
    List<BesideRound> rounds =
        new Beside(bench, peers, line -> {}).run(corpus, Path.of("x.wpix"), 2);
    Comparison comparison =
        new Comparison(
            bench.report(corpus, rounds.stream().map(BesideRound::ours).toList()), peers, rounds);
    assertThat(comparison.json().path("rounds")).hasSize(2);
    assertThat(comparison.json().path("rounds").path(1).fieldNames())
        .toIterable()
        .containsExactly("ours", "smgidx", "crtc");
    assertThat(comparison.json().path("ratios").path("crtc").path("bytesPerMembership").asDouble())
        .isPositive();
    StringWriter text = new StringWriter();
    comparison.print(new PrintWriter(text, true));
    assertThat(text.toString()).contains("ours / smgidx, medians:").contains("smgidx (not exact)");
  }

  private void install(String program, String bulk) throws IOException {
    Path file = folder.resolve("bin").resolve(program);
    String script = "#!/bin/sh\ncase $2 in\n%s%s%sesac\n";
    Files.writeString(
        file,
        script.formatted(
            branch("bulk", bulk), branch("interleaved", INTERLEAVED), branch("mem", MEM)));
    assertThat(file.toFile().setExecutable(true)).isTrue();
  }

  private static String branch(String mode, String text) {
    return "%s) cat <<'END'\n%sEND\n;;\n".formatted(mode, text);
  }
}
