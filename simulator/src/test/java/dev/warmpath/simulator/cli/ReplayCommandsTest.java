package dev.warmpath.simulator.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.eventingest.capture.CaptureHeader;
import dev.warmpath.eventingest.capture.CaptureHeader.CaptureStream;
import dev.warmpath.eventingest.capture.CaptureReader;
import dev.warmpath.eventingest.capture.CaptureRecord.Events;
import dev.warmpath.eventingest.capture.CaptureRecord.Mark;
import dev.warmpath.eventingest.capture.CaptureWriter;
import dev.warmpath.router.cli.Exit;
import dev.warmpath.router.cli.TestProgram;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class ReplayCommandsTest {

  private final TestProgram program = new TestProgram();

  /** A batch of one event, {@code ["BlockRemoved", [5]]}. */
  private static final byte[] REMOVAL =
      HexFormat.of().parseHex("92c09192ac426c6f636b52656d6f7665649105");

  @TempDir private Path folder;

  private Path file;

  @BeforeEach
  void record() throws IOException {
    file = folder.resolve("engine.wpc");
    CaptureStream stream = CaptureStream.live(3, "engine-0", "vllm", "m");
    CaptureHeader header = CaptureHeader.of(Instant.EPOCH, "one removal", List.of(stream));
    try (CaptureWriter writer = CaptureWriter.create(file, header)) {
      writer.write(new Mark(0, 3, "engine-started", Map.of()));
      writer.write(new Events(1.5, 3, new byte[0], 7, REMOVAL));
      writer.write(new Events(2.5, 3, new byte[0], 8, new byte[] {1}));
    }
  }

  @Test
  void inspectPrintsALineAnEvent() {
    assertThat(run("replay", "inspect", file.toString())).isEqualTo(Exit.OK);
    assertThat(program.out().lines())
        .containsExactly(
            "capture of 1970-01-01T00:00:00Z: one removal",
            "stream 3: engine-0 rank 0, vllm, model m, blocks of unknown size",
            "     0.000 engine-0 mark engine-started",
            "     1.500 engine-0 #7 BlockRemoved GPU group 0 [00000000]",
            "     2.500 engine-0 #8 undecodable: not an array at byte 0");
  }

  @Test
  void inspectStopsAtItsLimit() {
    run("replay", "inspect", file.toString(), "--limit", "1");
    assertThat(program.out().lines()).last().asString().contains("engine-started");
  }

  @Test
  void inspectTellsOfACutFileAndOfNone() throws IOException {
    byte[] whole = Files.readAllBytes(file);
    Path cut = Files.write(folder.resolve("cut.wpc"), Arrays.copyOf(whole, whole.length - 1));
    assertThat(run("replay", "inspect", cut.toString())).isEqualTo(Exit.OK);
    assertThat(program.err()).contains("cut.wpc: ends inside a record");
    assertThat(run("replay", "inspect", "nowhere.wpc")).isEqualTo(Exit.FAILED);
    assertThat(program.err()).contains("warmpath replay inspect: nowhere.wpc: no such file");
  }

  @Test
  void publishSaysWhereItPublishes() {
    int code =
        run(
            "replay",
            "publish",
            file.toString(),
            "--replay-bind",
            "tcp://127.0.0.1:0",
            "--speed",
            "0",
            "--linger",
            "0s");
    assertThat(code).isEqualTo(Exit.OK);
    assertThat(program.out())
        .containsPattern("publishing on tcp://127\\.0\\.0\\.1:[1-9]\\d*")
        .containsPattern("answering replays on tcp://127\\.0\\.0\\.1:[1-9]\\d*")
        .contains("published 2 messages");
  }

  @Test
  void publishRefusesWhatItCannotDo() {
    String name = file.toString();
    assertThat(run("replay", "publish", name, "--stream", "9")).isEqualTo(Exit.FAILED);
    assertThat(program.err()).contains("--stream 9: ");
    assertThat(run("replay", "publish", name, "--speed", "-1")).isEqualTo(Exit.USAGE);
    assertThat(run("replay", "publish", name, "--linger", "soon")).isEqualTo(Exit.USAGE);
    assertThat(program.err()).contains("'soon' is no duration");
    assertThat(run("replay", "publish", name, "--bind", "nonsense")).isEqualTo(Exit.FAILED);
    assertThat(program.err()).contains("cannot bind nonsense");
  }

  @Test
  void captureThatCouldRecordNothingSaysWhy() {
    Path captured = folder.resolve("captured.wpc");
    String out = captured.toString();
    assertThat(run("capture", "--out", out, "--endpoint", "tcp://127.0.0.1:1"))
        .isEqualTo(Exit.FAILED);
    assertThat(program.err())
        .contains("tcp://127.0.0.1:1: nothing listens there (Connection refused)")
        .contains("start the engine with --kv-events-config first");
    assertThat(run("capture", "--out", out, "--endpoint", "http://127.0.0.1:1"))
        .isEqualTo(Exit.USAGE);
    assertThat(program.err()).contains("http://127.0.0.1:1: no ZeroMQ endpoint; give tcp://");
    assertThat(captured).doesNotExist();
  }

  @Test
  void captureNamesEachEndpointsReplica() throws IOException {
    try (ServerSocket silent = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      captureNamesEachEndpointsReplica("tcp://127.0.0.1:" + silent.getLocalPort());
    }
  }

  private void captureNamesEachEndpointsReplica(String silent) throws IOException {
    Path captured = folder.resolve("captured.wpc.gz");
    int code =
        run(
            "capture",
            "--out",
            captured.toString(),
            "--duration",
            "1ms",
            "--endpoint",
            silent,
            "--replica",
            "a",
            "--engine",
            "SGLang-0.5.23",
            "--event-format",
            "dynamo",
            "--lora",
            "fr=lora/fr",
            "--endpoint",
            silent,
            "--replay-endpoint",
            "tcp://127.0.0.1:1");
    assertThat(code).isEqualTo(Exit.FAILED);
    assertThat(program.err()).contains("nothing came: ");
    try (CaptureReader reader = CaptureReader.open(captured)) {
      assertThat(reader.header().streams())
          .extracting(stream -> stream.id() + stream.replica() + stream.engine())
          .containsExactly("0aSGLang-0.5.23", "1engine-1vllm");
      assertThat(reader.header().streams().get(0).config("format")).isEqualTo("dynamo");
      assertThat(reader.header().streams().get(0).config("lora_ids"))
          .isEqualTo(List.of("fr=678c9802de1a5cea8cbfb4957918e862"));
    }
    assertThat(run("capture", "--out", file.toString(), "--endpoint", "tcp://127.0.0.1:1"))
        .isEqualTo(Exit.FAILED);
    assertThat(program.err()).contains("engine.wpc: exists already");
  }

  @Test
  void captureTakesWhatAnSglangWasToldOfAnSglangOnly() {
    List<String> words =
        List.of("capture", "--out", file + ".new", "--endpoint", "tcp://127.0.0.1:1");
    for (String[] told :
        new String[][] {
          {"--event-format", "dynamo"}, {"--lora", "fr=lora/fr"}, {"--load-back-tokens", "64"}
        }) {
      List<String> all = new ArrayList<>(words);
      all.addAll(List.of(told));
      assertThat(run(all.toArray(String[]::new))).as(told[0]).isEqualTo(Exit.USAGE);
      assertThat(program.err()).contains(told[0], "--engine at tcp://127.0.0.1:1 is vllm");
    }
    List<String> negative = new ArrayList<>(words);
    negative.addAll(List.of("--engine", "sglang", "--load-back-tokens", "-1"));
    assertThat(run(negative.toArray(String[]::new))).isEqualTo(Exit.USAGE);
    assertThat(program.err()).contains("--load-back-tokens -1 at tcp://127.0.0.1:1: below 0");
    assertThat(Path.of(file + ".new")).doesNotExist();
  }

  @Test
  void progressIsShownWhenWantedAndNotAmongTheResults() {
    String name = file.toString();
    for (String[] command :
        new String[][] {
          {"verify", name}, {"stats", name}, {"diff", name, name}, {"cut", name, name + ".part"}
        }) {
      List<String> words = new ArrayList<>(List.of("replay"));
      words.addAll(List.of(command));
      words.add("--progress");
      int code = command[0].equals("verify") ? Exit.FAILED : Exit.OK; // it has no request to judge
      assertThat(run(words.toArray(String[]::new))).isEqualTo(code);
      assertThat(program.err()).as(command[0]).contains("[####").endsWith("\n");
    }
    assertThat(program.out()).doesNotContain("[####");
    run("replay", "stats", name);
    assertThat(program.err()).isEmpty();
  }

  @Test
  void replayAloneIsAUsageError() {
    assertThat(run("replay")).isEqualTo(Exit.USAGE);
    assertThat(program.err()).contains("inspect").contains("publish");
  }

  private int run(String... args) {
    return program.run(args);
  }
}
