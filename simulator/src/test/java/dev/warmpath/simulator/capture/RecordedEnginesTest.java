package dev.warmpath.simulator.capture;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.kvindex.IndexLimits;
import dev.warmpath.kvindex.runs.RunKvIndex;
import dev.warmpath.simulator.capture.CaptureVerifier.Rehearsal;
import dev.warmpath.simulator.capture.CaptureVerifier.VerifyReport.Verdicts;
import dev.warmpath.simulator.capture.FaultyFeed.Faults;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * The streams of real engines in {@code captures/}, judged as {@code warmpath replay verify} does.
 *
 * <p>Each cell is exact/over/under. A change of one is a change of what the router predicts.
 */
class RecordedEnginesTest {

  private static final Path CAPTURES = Path.of("../event-ingest/src/test/resources/captures");
  private static final String SUFFIX = ".wpc.gz";

  /** As recorded: every judged request is predicted exactly. */
  private static final Rehearsal WHOLE = Rehearsal.RECORDED;

  /** One message in a hundred is lost, and a replay brings it back. */
  private static final Rehearsal REPAIRED = new Rehearsal(Faults.dropping(0.01, 1), true);

  /** One in a hundred is lost for good: less is predicted, never more. */
  private static final Rehearsal LOSSES = new Rehearsal(Faults.dropping(0.01, 1), false);

  private static final String EXPECTED =
      """
      capture                           whole       repaired    losses
      sglang-0.5.23-p1-basics           122/0/0     120/0/0     111/0/9
      sglang-0.5.23-p1-eagle-direct     81/0/0      80/0/0      68/0/12
      sglang-0.5.23-p16-basics          182/0/0     177/0/0     170/0/7
      sglang-0.5.23-p16-concurrent      28/0/0      28/0/0      23/0/5
      sglang-0.5.23-p16-dynamo-keys     85/0/0      83/0/0      78/0/5
      sglang-0.5.23-p16-eagle-direct    130/0/0     129/0/0     120/0/9
      sglang-0.5.23-p16-hicache         126/0/0     123/0/0     94/0/29
      sglang-0.5.23-p16-lora-salt       96/0/0      94/0/0      83/0/11
      sglang-0.5.23-p16-restart-gap     101/0/0     98/0/0      79/0/19
      sglang-0.5.23-p64-chats           129/0/0     127/0/0     108/0/19
      vllm-0.15.1-basics                83/0/0      83/0/0      74/0/9
      vllm-0.22.1-basics                100/0/0     98/0/0      90/0/8
      vllm-0.26.0-basics                108/0/0     108/0/0     100/0/8
      vllm-0.32.0-basics                148/0/0     145/0/0     136/0/9
      vllm-0.32.0-bytes-cbor            108/0/0     105/0/0     97/0/8
      vllm-0.32.0-chat-tools            69/0/0      67/0/0      53/0/14
      vllm-0.32.0-concurrent            214/0/0     213/0/0     199/0/14
      vllm-0.32.0-gap-replay            121/0/0     119/0/0     111/0/8
      vllm-0.32.0-hybrid                91/0/0      89/0/0      63/0/26
      vllm-0.32.0-lora-salt             95/0/0      94/0/0      76/0/18
      vllm-0.32.0-mamba                 95/0/0      93/0/0      66/0/27
      vllm-0.32.0-restart               180/0/0     178/0/0     173/0/5
      all of sglang                     1080/0/0    1059/0/0    934/0/125
      all of vllm                       1412/0/0    1392/0/0    1238/0/154
      """;

  private static final String UNCACHED =
      """
      sglang-0.5.23-p1-basics           {new=1632}
      sglang-0.5.23-p1-eagle-direct     {evicted=14, new=798}
      sglang-0.5.23-p16-basics          {new=16842}
      sglang-0.5.23-p16-concurrent      {evicted=240, new=1173}
      sglang-0.5.23-p16-dynamo-keys     {new=7023}
      sglang-0.5.23-p16-eagle-direct    {evicted=48, new=6260}
      sglang-0.5.23-p16-hicache         {evicted=9248, new=10676}
      sglang-0.5.23-p16-lora-salt       {evicted=80, new=10378}
      sglang-0.5.23-p16-restart-gap     {lost=400, new=5225}
      sglang-0.5.23-p64-chats           {new=11517}
      vllm-0.15.1-basics                {new=3982}
      vllm-0.22.1-basics                {new=4398}
      vllm-0.26.0-basics                {new=13851}
      vllm-0.32.0-basics                {new=17560}
      vllm-0.32.0-bytes-cbor            {new=17129}
      vllm-0.32.0-chat-tools            {new=5515}
      vllm-0.32.0-concurrent            {evicted=96, new=15923}
      vllm-0.32.0-gap-replay            {new=8670}
      vllm-0.32.0-hybrid                {evicted=704, new=7265}
      vllm-0.32.0-lora-salt             {evicted=1248, new=16173}
      vllm-0.32.0-mamba                 {evicted=960, new=8896}
      vllm-0.32.0-restart               {new=12734}
      """;

  /** What engines computed has causes: restarts, resets and losses show in the captures of them. */
  @Test
  void whatWasComputedHasACause() throws IOException {
    StringBuilder found = new StringBuilder();
    for (Path file : captures()) {
      CaptureVerifier.VerifyReport report =
          CaptureVerifier.verify(file, new RunKvIndex(IndexLimits.unbounded(10_000)), WHOLE);
      String name = file.getFileName().toString().replace(SUFFIX, "");
      found.append("%-33s %s%n".formatted(name, report.uncached()));
    }
    assertThat(found.toString()).isEqualTo(UNCACHED);
  }

  @Test
  void predictionsComeTrue() throws IOException {
    StringBuilder found = new StringBuilder(row("capture", List.of("whole", "repaired", "losses")));
    Map<String, List<Verdicts>> sums = new TreeMap<>();
    for (Path file : captures()) {
      String name = file.getFileName().toString().replace(SUFFIX, "");
      List<Verdicts> judged =
          List.of(judged(file, WHOLE), judged(file, REPAIRED), judged(file, LOSSES));
      found.append(row(name, judged));
      sums.merge(name.substring(0, name.indexOf('-')), judged, RecordedEnginesTest::sum);
    }
    sums.forEach((engine, sum) -> found.append(row("all of " + engine, sum)));
    assertThat(found.toString()).isEqualTo(EXPECTED);
  }

  private static List<Path> captures() throws IOException {
    try (Stream<Path> files = Files.list(CAPTURES)) {
      return files.filter(file -> file.toString().endsWith(SUFFIX)).sorted().toList();
    }
  }

  private static Verdicts judged(Path file, Rehearsal rehearsal) throws IOException {
    RunKvIndex index = new RunKvIndex(IndexLimits.unbounded(1 << 20));
    return CaptureVerifier.verify(file, index, rehearsal).judged();
  }

  private static List<Verdicts> sum(List<Verdicts> some, List<Verdicts> more) {
    return IntStream.range(0, some.size()).mapToObj(i -> some.get(i).plus(more.get(i))).toList();
  }

  private static String row(String capture, List<?> cells) {
    return "%-34s%-12s%-12s%s\n"
        .formatted(capture, text(cells.get(0)), text(cells.get(1)), text(cells.get(2)));
  }

  private static Object text(Object cell) {
    return cell instanceof Verdicts judged
        ? judged.exact() + "/" + judged.over() + "/" + judged.under()
        : cell;
  }
}
