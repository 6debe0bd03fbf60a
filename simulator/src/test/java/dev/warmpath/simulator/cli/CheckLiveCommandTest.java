package dev.warmpath.simulator.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.sun.net.httpserver.HttpExchange;
import dev.warmpath.router.cli.Exit;
import dev.warmpath.router.cli.TestProgram;
import dev.warmpath.simulator.ImageModel;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;

/** The check against an engine that forgets, and against one that is not what it says. */
@Timeout(300)
final class CheckLiveCommandTest {

  private static final int BLOCKS = 200;

  /** Of the first chat one turn, of the others two. */
  private static final int CHATS = 4;

  @Test
  void evictionOfThePromptItselfExcusesTheRouter() throws Exception {
    AtomicInteger chats = new AtomicInteger();
    TamperedEngine.Chat forgetful =
        (engine, exchange) -> {
          if (chats.incrementAndGet() == CHATS) {
            engine.fill(BLOCKS / 2);
            engine.fill(BLOCKS / 2);
          }
          engine.pass(exchange, answer -> answer);
        };
    try (TamperedEngine engine = new TamperedEngine(BLOCKS, forgetful)) {
      Run run = run(engine);

      assertThat(run.count("evicted")).as(run.toString()).isPositive();
      assertThat(run.count("causesJudged")).as(run.toString()).isEqualTo(CHATS);
      assertThat(run.count("causesUnbalanced")).as(run.toString()).isZero();
      assertThat(run.report.at("/uncachedTokens/mispredicted").asInt()).isPositive();
      assertThat(run.count("over")).as(run.toString()).isZero();
      assertThat(run.exitCode()).isEqualTo(Exit.OK);
    }
  }

  @Test
  void evictionOfOtherPromptsExcusesNothing() throws Exception {
    try (TamperedEngine engine = new TamperedEngine(BLOCKS, CheckLiveCommandTest::hideHits)) {
      engine.fill(60);
      engine.fill(60);
      engine.fill(60);
      Run run = run(engine);

      assertThat(run.count("over")).as(run.toString()).isPositive();
      assertThat(run.count("evicted")).as(run.toString()).isZero();
      assertThat(run.exitCode()).isEqualTo(Exit.FAILED);
    }
  }

  @Test
  void imagesArePredictedExactlyOnceTheirNamesAreKnown(@TempDir Path model) throws Exception {
    ImageModel.write(model, 200_704);
    TamperedEngine.Chat honest = (engine, exchange) -> engine.pass(exchange, answer -> answer);
    try (TamperedEngine engine = new TamperedEngine(model, 4000, honest)) {
      List<String> args = new ArrayList<>(List.of("--tokenizer", "sim=" + model, "--images"));
      args.addAll(List.of("--replica", engine.replica(), "--chats", "6", "--turns", "3"));
      args.addAll(List.of("--settle-ms", "500"));
      Run run = run(args);

      assertThat(run.count("unjudged")).as(run.toString()).isBetween(1, 3);
      assertThat(run.count("exact")).isEqualTo(18 - run.count("unjudged"));
      assertThat(run.report.required("hitRate").asDouble()).isGreaterThan(0.3);
      assertThat(run.exitCode()).isEqualTo(Exit.OK);
    }
  }

  /**
   * The first chat with an image shows what the engine makes of it; all others are exact, but for
   * events that come late.
   */
  @ParameterizedTest
  @ValueSource(ints = {1, 16, 64})
  void imagesOfAnSglangArePredictedExactlyOnceTheyWereSeen(int pageTokens, @TempDir Path model)
      throws Exception {
    ImageModel.write(model, 200_704);
    TamperedEngine.Chat honest = (engine, exchange) -> engine.pass(exchange, answer -> answer);
    try (TamperedEngine engine =
        new TamperedEngine(model, 64_000 / pageTokens, pageTokens, honest)) {
      List<String> args = new ArrayList<>(List.of("--tokenizer", "sim=" + model, "--images", "2"));
      args.addAll(List.of("--replica", engine.replica() + ",dialect=sglang"));
      args.addAll(List.of("--chats", "10", "--turns", "4", "--settle-ms", "300"));
      Run run = run(args);

      assertThat(run.count("over")).as(run.toString()).isZero();
      assertThat(run.count("unjudged")).as("chats with new images").isLessThan(20);
      assertThat(run.count("exact") + run.count("under")).isEqualTo(40 - run.count("unjudged"));
      assertThat(run.count("exact")).as(run.toString()).isGreaterThan(20);
      assertThat(run.exitCode()).isEqualTo(Exit.OK);
    }
  }

  @Test
  void imagesForAModelThatTakesNoneAreAFailure() throws Exception {
    TamperedEngine.Chat honest = (engine, exchange) -> engine.pass(exchange, answer -> answer);
    try (TamperedEngine engine = new TamperedEngine(BLOCKS, honest)) {
      Run run = run(engine, "--images", "1");

      assertThat(run.count("failed")).as(run.toString()).isEqualTo(CHATS);
      assertThat(run.report.at("/failures/status 400").asInt()).isEqualTo(CHATS);
      assertThat(run.exitCode()).isEqualTo(Exit.FAILED);
    }
  }

  @Test
  void checkThatJudgesNothingFails() throws Exception {
    TamperedEngine.Chat silent =
        (engine, exchange) ->
            engine.pass(exchange, answer -> answer.replace("\"cached_tokens\"", "\"other\""));
    try (TamperedEngine engine = new TamperedEngine(BLOCKS, silent)) {
      Run run = run(engine);

      assertThat(run.count("unjudged")).as(run.toString()).isEqualTo(CHATS);
      assertThat(run.count("causesJudged")).as(run.toString()).isZero();
      assertThat(run.exitCode()).isEqualTo(Exit.FAILED);
    }
  }

  @Test
  void checkThatCannotBeginSaysWhyAndWhatToDo() throws Exception {
    TestProgram program = new TestProgram();
    assertThat(program.run("check-live", "--tokenizer", "sim=embedded")).isEqualTo(Exit.USAGE);
    assertThat(program.err()).contains("no replica is configured");
    assertThat(program.run("check-live", "--replica", "a=http://127.0.0.1:1"))
        .isEqualTo(Exit.USAGE);
    assertThat(program.err()).contains("0 models are configured");

    String[] refused = {"--replica", "a=http://127.0.0.1:1,events=tcp://127.0.0.1:1"};
    assertThat(program.run("check-live", "--tokenizer", "sim=embedded", refused[0], refused[1]))
        .isEqualTo(Exit.FAILED);
    assertThat(program.err())
        .contains("a: http://127.0.0.1:1: nothing listens at 127.0.0.1:1 (connection refused)")
        .contains("-> start the engine, or correct `url`")
        .contains("tcp://127.0.0.1:1: nothing listens there")
        .doesNotContain("\"replicas\"");
  }

  @Test
  void wrongSchemeIsTold() throws Exception {
    TamperedEngine.Chat honest = (engine, exchange) -> engine.pass(exchange, answer -> answer);
    TestProgram program = new TestProgram();
    try (TamperedEngine engine = new TamperedEngine(BLOCKS, honest)) {
      String replica = engine.replica().replace("http://", "https://");
      assertThat(program.run("check-live", "--tokenizer", "sim=embedded", "--replica", replica))
          .isEqualTo(Exit.FAILED);
      assertThat(program.err())
          .contains("`url` begins with https:// if it was started with a certificate")
          .doesNotContain("\"replicas\"");
    }
  }

  @Test
  void configurationOfARunningRouterServes(@TempDir Path folder) throws Exception {
    TamperedEngine.Chat honest = (engine, exchange) -> engine.pass(exchange, answer -> answer);
    try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
        TamperedEngine engine = new TamperedEngine(BLOCKS, honest)) {
      Path config = folder.resolve("warmpath.yaml");
      Files.writeString(
          config,
          "listen: {port: %d}\nheaders: {replica: false}\nauth: {keys-file: /nowhere}\n"
              .formatted(taken.getLocalPort()));
      Run run = run(engine, "--config", config.toString());

      assertThat(run.count("exact")).as(run.toString()).isEqualTo(CHATS);
      assertThat(run.exitCode()).isEqualTo(Exit.OK);
    }
  }

  /** The engine publishes where nobody told the router. */
  @Test
  void anEngineThatIsAskedForItsEventsIsPredictedExactly() throws Exception {
    TamperedEngine.Chat honest = (engine, exchange) -> engine.pass(exchange, answer -> answer);
    try (TamperedEngine engine = new TamperedEngine(BLOCKS, honest)) {
      Run run = run(engine, "--replica", engine.replica().replaceFirst(",.*", ",events=auto"));

      assertThat(run.count("exact")).as(run.toString()).isEqualTo(CHATS);
      assertThat(run.exitCode()).isEqualTo(Exit.OK);
    }
  }

  @Test
  void stalledStreamIsAFailureAndTheRunGoesOn() throws Exception {
    AtomicInteger chats = new AtomicInteger();
    CountDownLatch over = new CountDownLatch(1);
    TamperedEngine.Chat stalling =
        (engine, exchange) -> {
          if (chats.incrementAndGet() == 2) {
            engine.stall(
                exchange, "data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\n", over);
          } else {
            engine.pass(exchange, answer -> answer);
          }
        };
    try (TamperedEngine engine = new TamperedEngine(BLOCKS, stalling)) {
      Run run = run(engine, "--idle-ms", "3000");

      assertThat(run.count("failed")).as(run.toString()).isEqualTo(1);
      assertThat(run.count("requests")).isEqualTo(CHATS);
      assertThat(run.exitCode()).isEqualTo(Exit.FAILED);
    } finally {
      over.countDown();
    }
  }

  /** Something older is evicted meanwhile, and the hit is denied. */
  private static void hideHits(TamperedEngine engine, HttpExchange chat) throws IOException {
    engine.fill(10);
    engine.pass(chat, answer -> answer.replaceAll("\"cached_tokens\":\\d+", "\"cached_tokens\":0"));
  }

  private record Run(int exitCode, JsonNode report) {

    int count(String verdict) {
      return report.required(verdict).asInt();
    }
  }

  private static Run run(TamperedEngine engine, String... more) throws Exception {
    List<String> args = new ArrayList<>(List.of("--tokenizer", "sim=embedded"));
    args.addAll(List.of("--replica", engine.replica(), "--chats", "2", "--turns", "2"));
    args.addAll(List.of(more));
    return run(args);
  }

  private static Run run(List<String> given) throws Exception {
    List<String> args = new ArrayList<>(given);
    args.add("--json");
    CheckLiveCommand command = new CheckLiveCommand();
    new CommandLine(command).parseArgs(args.toArray(String[]::new));
    PrintStream out = System.out;
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    System.setOut(new PrintStream(bytes, true, StandardCharsets.UTF_8));
    try {
      int exitCode = command.call();
      String report = // the process log may have lines there too
          bytes
              .toString(StandardCharsets.UTF_8)
              .lines()
              .filter(line -> line.startsWith("{"))
              .findFirst()
              .orElseThrow();
      return new Run(exitCode, new ObjectMapper().readTree(report));
    } finally {
      System.setOut(out);
    }
  }
}
