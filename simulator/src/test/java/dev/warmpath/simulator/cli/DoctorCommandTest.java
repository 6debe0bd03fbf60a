package dev.warmpath.simulator.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.sun.net.httpserver.HttpExchange;
import dev.warmpath.router.cli.DoctorCommand;
import dev.warmpath.router.cli.Exit;
import dev.warmpath.router.doctor.Checks;
import dev.warmpath.simulator.ImageModel;
import dev.warmpath.simulator.live.PublisherOptions;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

/** The doctor against engines that are well, and against each thing that can be wrong. */
@Timeout(300)
final class DoctorCommandTest {

  private static final int BLOCKS = 400;
  private static final String SCHEME = "sha256 vllm-none-hash";

  /** How long is waited for what does not come. */
  private static final String IN_VAIN = "--wait";

  @Test
  void wellFleetPasses() throws Exception {
    try (TamperedEngine a = engine();
        TamperedEngine b = engine()) {
      Run run = run(replica("a", a), replica("b", b));

      assertThat(run.exitCode()).as(run.toString()).isEqualTo(Exit.OK);
      for (String replica : List.of("a", "b")) {
        assertThat(run.levels(replica)).as(run.toString()).containsOnly("ok");
        assertThat(run.found(replica, "events")).contains("events come");
        assertThat(run.found(replica, "replay")).contains("has published nothing yet");
        assertThat(run.found(replica, "blocks"))
            .isEqualTo("16 tokens a block, hashed with sha256 vllm-none-hash");
        assertThat(run.found(replica, "tokens")).isEqualTo("sim: 14 probes are equal");
        assertThat(run.found(replica, "images")).isEqualTo("sim: the engine takes no images");
        assertThat(run.found(replica, "cached-tokens"))
            .matches("([1-9][0-9]*) cached tokens were predicted, and \\1 reused");
      }
    }
  }

  @Test
  void namesEveryCheckInTheDocumentation() throws Exception {
    List<String> documented =
        Files.readAllLines(Path.of("../docs/doctor.md")).stream()
            .filter(line -> line.startsWith("| `"))
            .map(line -> line.substring(3, line.indexOf('`', 3)))
            .toList();

    assertThat(documented).isEqualTo(Checks.names());
  }

  @Test
  void nothingListens() throws Exception {
    try (Socket bound = bound()) {
      int closed = bound.getLocalPort();
      Run run =
          run(
              "a=http://127.0.0.1:%d,events=tcp://127.0.0.1:%d,replay=tcp://127.0.0.1:%d"
                  .formatted(closed, closed, closed),
              IN_VAIN,
              "1");

      run.fails("a", "reachable", "connection refused", "start the engine");
      run.fails("a", "events", "nothing listens", "compare `events`");
      run.fails("a", "replay", "nothing listens", "replay_endpoint");
    }
  }

  @Test
  void eventsPortThatSpeaksNoZeroMq() throws Exception {
    try (TamperedEngine engine = engine()) {
      String http = engine.url().replace("http", "tcp");
      Run run =
          run(
              "a=%s,events=%s,replay=%s".formatted(engine.url(), http, engine.replay()),
              IN_VAIN,
              "1");

      String right = engine.events().substring(engine.events().lastIndexOf(':'));
      run.fails("a", "events", "does not speak ZeroMQ", "tcp://127.0.0.1" + right);
    }
  }

  @Test
  void eventsAndReplayExchanged() throws Exception {
    try (TamperedEngine engine = engine()) {
      Run run =
          run(
              "a=%s,events=%s,replay=%s".formatted(engine.url(), engine.replay(), engine.events()),
              IN_VAIN,
              "1");

      assertThat(run.level("a", "events")).as(run.toString()).isEqualTo("fail");
      run.changes("a", "events", engine.events().substring(engine.events().lastIndexOf(':')));
    }
  }

  @Test
  void engineThatPublishesNothing() throws Exception {
    try (TamperedEngine engine = engine();
        Socket bound = bound()) {
      engine.change("/kv_event_sources", answer -> "{}");
      String events = "tcp://127.0.0.1:" + bound.getLocalPort();
      Run run = run("a=%s,events=%s".formatted(engine.url(), events), IN_VAIN, "1");

      run.fails("a", "events", "nothing listens", "its events are off");
    }
  }

  @Test
  void eventsOfAnotherEngine() throws Exception {
    try (TamperedEngine a = engine();
        TamperedEngine b = engine()) {
      Run run =
          run(
              "a=%s,events=%s,replay=%s".formatted(a.url(), b.events(), b.replay()),
              "b=%s,events=%s,replay=%s".formatted(b.url(), a.events(), a.replay()),
              IN_VAIN,
              "3");

      run.fails("a", "events", "its events came on the stream of b", "exchanged");
      run.fails("b", "events", "its events came on the stream of a", "exchanged");
    }
  }

  @Test
  void sameEndpointTwice() throws Exception {
    try (TamperedEngine a = engine();
        TamperedEngine b = engine()) {
      Run run =
          run(
              replica("a", a),
              "b=%s,events=%s".formatted(b.url(), a.events()),
              "--no-requests",
              IN_VAIN,
              "1");

      run.fails("b", "config", "its `events` is that of a", "its own address");
    }
  }

  @Test
  void portToBindIsTaken() throws Exception {
    try (TamperedEngine engine = engine()) {
      Run run =
          run("a=%s,events=%s,bind=true".formatted(engine.url(), engine.events()), IN_VAIN, "1");

      run.fails("a", "events", "cannot be bound", "end a router");
    }
  }

  @Test
  void noEvents() throws Exception {
    try (TamperedEngine engine = engine()) {
      Run run = run("a=" + engine.url());

      run.warns("a", "events", "chosen by load alone", "events: " + engine.events());
    }
  }

  @Test
  void replayHasAll() throws Exception {
    try (TamperedEngine engine = engine()) {
      engine.fill(4);
      Run run = run(replica("a", engine), "--no-requests");

      assertThat(run.found("a", "replay")).contains("has all", "since the engine's start");
      assertThat(run.level("a", "events")).isEqualTo("ok");
    }
  }

  @Test
  void noReplay() throws Exception {
    try (TamperedEngine engine = engine()) {
      Run run = run("a=%s,events=%s".formatted(engine.url(), engine.events()));

      run.warns("a", "replay", "it has no `replay`", "replay: " + engine.replay());
    }
  }

  @Test
  void replayThatDoesNotAnswer() throws Exception {
    try (TamperedEngine engine = engine()) {
      String http = engine.url().replace("http", "tcp");
      Run run =
          run(
              "a=%s,events=%s,replay=%s".formatted(engine.url(), engine.events(), http),
              IN_VAIN,
              "5");

      run.fails("a", "replay", "does not answer", "replay_endpoint");
    }
  }

  @Test
  void replayThatReachesNotFarEnough() throws Exception {
    PublisherOptions few = PublisherOptions.DEFAULT.withBuffer(2);
    try (TamperedEngine engine = new TamperedEngine(BLOCKS, 16, few, DoctorCommandTest::pass)) {
      for (int i = 0; i < 5; i++) {
        engine.fill(4);
      }
      Run run = run(replica("a", engine));

      run.warns("a", "replay", "reaches back 2 batches", "buffer_steps");
    }
  }

  @Test
  void otherBlockSizeThanTheSibling() throws Exception {
    PublisherOptions usual = PublisherOptions.DEFAULT;
    try (TamperedEngine a = engine();
        TamperedEngine b = new TamperedEngine(BLOCKS, 32, usual, DoctorCommandTest::pass)) {
      Run run = run(replica("a", a), replica("b", b));

      assertThat(run.level("a", "blocks")).isEqualTo("ok");
      run.fails("b", "blocks", "32 tokens a block, but 16 tokens a block on a", "--block-size");
    }
  }

  @Test
  void oneThatHasSeenASaltHashesAsTheOther() throws Exception {
    try (TamperedEngine a = engine();
        TamperedEngine b = engine()) {
      b.fillSalted(4);
      Run run = run(replica("a", a), replica("b", b));

      assertThat(run.found("a", "blocks")).isEqualTo("16 tokens a block, hashed with " + SCHEME);
      assertThat(run.found("b", "blocks"))
          .isEqualTo("16 tokens a block, hashed with " + SCHEME + " tagged");
      assertThat(run.level("b", "blocks")).isEqualTo("ok");
    }
  }

  @Test
  void cachedTokensAreNotReported() throws Exception {
    try (TamperedEngine engine =
        engine(answer -> answer.replaceAll(",\"prompt_tokens_details\":\\{[^}]*}", ""))) {
      Run run = run(replica("a", engine));

      run.warns("a", "cached-tokens", "do not show", "--enable-prompt-tokens-details");
      assertThat(run.exitCode()).isEqualTo(Exit.OK);
    }
  }

  @Test
  void lessIsReusedThanPredicted() throws Exception {
    try (TamperedEngine engine =
        engine(answer -> answer.replaceAll("\"cached_tokens\":\\d+", "\"cached_tokens\":0"))) {
      Run run = run(replica("a", engine));

      run.fails("a", "cached-tokens", "and 0 were reused", "check-live");
    }
  }

  @Test
  void otherTokens() throws Exception {
    try (TamperedEngine engine =
        engine(answer -> answer.replaceAll("\"prompt_tokens\":\\d+", "\"prompt_tokens\":7"))) {
      engine.change(
          "/tokenize", answer -> answer.replaceAll("\"tokens\":\\[\\d+", "\"tokens\":[3"));
      Run run = run(replica("a", engine));

      run.fails("a", "tokens", "token 0 of a probe is ", "the folder that the engine loads");
      assertThat(run.toString()).contains("here has 7 in the engine");
    }
  }

  @Test
  void noTokenizerForWhatIsServed() throws Exception {
    try (TamperedEngine engine = engine()) {
      Run run = run(replica("a", engine), "--tokenizer", "other=embedded");
      assertThat(run.level("router", "models")).isEqualTo("fail");

      engine.change("/v1/models", answer -> answer.replace("\"id\":\"sim\"", "\"id\":\"x\""));
      run(replica("a", engine)).fails("a", "models", "it serves x", "{name: x");
    }
  }

  @Test
  void tokenizerThatIsNotThere() throws Exception {
    try (TamperedEngine engine = engine()) {
      Run run = run(replica("a", engine), "--tokenizer", "other=/no/such/folder");

      run.fails("router", "config", "the tokenizer of other cannot be loaded", "`tokenizer`");
    }
  }

  @Test
  void requestsAreRefused() throws Exception {
    try (TamperedEngine engine =
        new TamperedEngine(
            BLOCKS,
            (tampered, exchange) -> {
              exchange.getRequestBody().readAllBytes();
              exchange.sendResponseHeaders(401, -1);
              exchange.close();
            })) {
      Run run = run(replica("a", engine), IN_VAIN, "1");

      run.fails("a", "request", "was not served: 401", "API key");
    }
  }

  @Test
  void engineThatIsNotWell() throws Exception {
    try (TamperedEngine engine = engine()) {
      engine.refuse("/health", 503);
      engine.refuse("/metrics", 404);
      Run run = run(replica("a", engine));

      run.fails("a", "reachable", "status 503", "its log");
      run.warns("a", "metrics", "neither its start nor its queue", "--disable-log-stats");
    }
  }

  @Test
  void anotherEngineThanConfigured() throws Exception {
    try (TamperedEngine engine = engine()) {
      engine.change("/version", answer -> "{\"version\":\"0.7.3\"}");
      run(replica("a", engine)).warns("a", "version", "vLLM 0.7.3", "check-live");
      run(replica("a", engine) + ",dialect=sglang", IN_VAIN, "2")
          .fails("a", "version", "vLLM 0.7.3 is read as dialect sglang", "dialect: vllm");
    }
  }

  @Test
  void cacheThatIsOff() throws Exception {
    try (TamperedEngine engine = engine()) {
      engine.change(
          "/metrics",
          answer ->
              answer.replace("enable_prefix_caching=\"True\"", "enable_prefix_caching=\"False\""));
      Run run = run(replica("a", engine));

      run.fails("a", "metrics", "prefix caching is off", "--enable-prefix-caching");
    }
  }

  @Test
  void ranksThatAreNotConfigured() throws Exception {
    try (TamperedEngine engine = engine()) {
      engine.change(
          "/kv_event_sources",
          answer ->
              answer.substring(0, answer.length() - 1) + ",\"1\":{\"endpoint\":\"tcp://*:1\"}}");
      Run run = run(replica("a", engine), IN_VAIN, "5");

      run.fails("a", "events", "2 data-parallel ranks", "ranks: 2");
    }
  }

  @Test
  void anEngineThatIsAskedForItsEventsIsFollowed() throws Exception {
    try (TamperedEngine engine = engine()) {
      Run run = run("a=" + engine.url() + ",events=auto");

      assertThat(run.levels("a")).as(run.toString()).containsOnly("ok");
      assertThat(run.found("a", "events")).contains("events come from tcp://127.0.0.1:");
    }
  }

  @Test
  void idleEngineWithoutRequests() throws Exception {
    try (TamperedEngine engine = engine()) {
      Run run = run(replica("a", engine), "--no-requests");

      run.warns("a", "events", "nothing came", "without --no-requests");
      assertThat(run.found("a", "replay")).contains("has published nothing yet");
      assertThat(run.exitCode()).isEqualTo(Exit.OK);
    }
  }

  @Test
  void imagesAreComparedWithTheEngine(@TempDir Path model, @TempDir Path smaller) throws Exception {
    ImageModel.write(model, 200_704);
    ImageModel.write(smaller, 20_000);
    String ours = "sim=" + model;
    try (TamperedEngine equal = new TamperedEngine(model, BLOCKS, DoctorCommandTest::pass);
        TamperedEngine other = new TamperedEngine(smaller, BLOCKS, DoctorCommandTest::pass);
        TamperedEngine renamed = new TamperedEngine(model, BLOCKS, DoctorCommandTest::pass)) {
      renamed.answer(
          "/v1/chat/completions/render",
          "{\"token_ids\":[1],\"features\":{\"mm_hashes\":{\"image\":[\"other\"]}}}");
      Run run =
          run(replica("a", equal), replica("b", other), replica("c", renamed), "--tokenizer", ours);

      assertThat(run.level("a", "images")).isEqualTo("ok");
      assertThat(run.found("a", "images"))
          .contains("tokens of a chat with an image are equal", "the render route is closed");
      run.fails("b", "images", "a chat with an image has", "--mm-processor-kwargs");
      run.warns("c", "images", "but not the image's name", "--media-io-kwargs");
    }
  }

  @Test
  void imagesThatAreNotKnownHere(@TempDir Path model) throws Exception {
    ImageModel.write(model, 200_704);
    try (TamperedEngine engine = new TamperedEngine(model, BLOCKS, DoctorCommandTest::pass)) {
      run(replica("a", engine)).warns("a", "images", "not known here", "docs/tokenizing.md");
    }
  }

  @Test
  void refusedImageIsNoModelWithoutImages(@TempDir Path model) throws Exception {
    ImageModel.write(model, 200_704);
    try (TamperedEngine none = new TamperedEngine(model, BLOCKS, DoctorCommandTest::pass);
        TamperedEngine limited = new TamperedEngine(model, BLOCKS, DoctorCommandTest::pass);
        TamperedEngine broken = new TamperedEngine(model, BLOCKS, DoctorCommandTest::pass);
        TamperedEngine behind = new TamperedEngine(model, BLOCKS, DoctorCommandTest::pass)) {
      none.answer("/tokenize", 400, error("sim is not a multimodal model"));
      limited.answer("/tokenize", 400, error("At most 0 image(s) may be provided in one prompt."));
      broken.answer("/tokenize", 400, error("Failed to apply the processor: " + "x".repeat(1000)));
      behind.answer("/tokenize", 400, "<html>Bad Request</html>");
      Run run =
          run(
              replica("a", none),
              replica("b", limited),
              replica("c", broken),
              replica("d", behind),
              "--tokenizer",
              "sim=" + model);

      assertThat(run.found("a", "images")).contains("the engine takes no images");
      assertThat(run.found("b", "images")).contains("the engine takes no images");
      run.warns("c", "images", "refuses a chat with an image: Failed to apply", "a chat with");
      assertThat(run.found("c", "images")).hasSizeLessThan(300);
      run.warns("d", "images", "refuses a chat with an image: <html>", "a chat with");
    }
  }

  private static String error(String message) {
    return "{\"error\":{\"message\":\"%s\",\"type\":\"BadRequestError\",\"code\":400}}"
        .formatted(message);
  }

  @Test
  void noReplicas() throws Exception {
    run().fails("router", "config", "no replica", "--replica");
  }

  @Test
  void discoveredReplicasAreExamined(@TempDir Path folder) throws Exception {
    try (TamperedEngine engine = engine()) {
      Path list = folder.resolve("replicas.yaml");
      Files.writeString(
          list,
          "- {name: a, url: '%s', events: '%s', replay: '%s'}%n"
              .formatted(engine.url(), engine.events(), engine.replay()));
      Path config = folder.resolve("warmpath.yaml");
      Files.writeString(config, "discovery: [{kind: file, file: '%s'}]%n".formatted(list));
      Run run = run("--config", config.toString());

      assertThat(run.found("router", "discovery")).isEqualTo("file finds a");
      assertThat(run.found("a", "cached-tokens"))
          .matches("([1-9][0-9]*) cached tokens were predicted, and \\1 reused");
      assertThat(run.exitCode()).as(run.toString()).isEqualTo(Exit.OK);
    }
  }

  @Test
  void sourceOfReplicasThatCannotBeRead(@TempDir Path folder) throws Exception {
    Path config = folder.resolve("warmpath.yaml");
    Files.writeString(config, "discovery: [{kind: file, file: /nowhere}]\n");
    Run run = run("--config", config.toString());

    run.fails("router", "discovery", "file: /nowhere: no such file", "adds no replica");
    assertThat(run.exitCode()).isEqualTo(Exit.FAILED);
  }

  private static TamperedEngine engine() throws IOException {
    return new TamperedEngine(BLOCKS, DoctorCommandTest::pass);
  }

  private static TamperedEngine engine(UnaryOperator<String> changed) throws IOException {
    return new TamperedEngine(BLOCKS, (engine, exchange) -> engine.pass(exchange, changed));
  }

  private static void pass(TamperedEngine engine, HttpExchange exchange) throws IOException {
    engine.pass(exchange, answer -> answer);
  }

  private static String replica(String name, TamperedEngine engine) {
    return "%s=%s,events=%s,replay=%s"
        .formatted(name, engine.url(), engine.events(), engine.replay());
  }

  /** Has a port on which nobody listens, as long as it is open. */
  private static Socket bound() throws IOException {
    Socket socket = new Socket();
    socket.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
    return socket;
  }

  private record Run(int exitCode, JsonNode report) {

    List<JsonNode> findings(String subject, String check) {
      List<JsonNode> found = new ArrayList<>();
      for (JsonNode finding : report.path("findings")) {
        if (finding.path("subject").asText().equals(subject)
            && finding.path("check").asText().equals(check)) {
          found.add(finding);
        }
      }
      assertThat(found).as(check + " of " + subject + " in " + report).isNotEmpty();
      return found;
    }

    String found(String subject, String check) {
      return findings(subject, check).get(0).path("found").asText();
    }

    String level(String subject, String check) {
      return findings(subject, check).get(0).path("level").asText();
    }

    Set<String> levels(String subject) {
      Set<String> levels = new TreeSet<>();
      report
          .path("findings")
          .forEach(finding -> {
            if (finding.path("subject").asText().equals(subject)) {
              levels.add(finding.path("level").asText());
            }
          });
      return levels;
    }

    void changes(String subject, String check, String change) {
      assertThat(findings(subject, check).get(0).path("change").asText()).contains(change);
    }

    void fails(String subject, String check, String found, String change) {
      has("fail", subject, check, found, change);
      assertThat(exitCode).isEqualTo(Exit.FAILED);
    }

    void warns(String subject, String check, String found, String change) {
      has("warn", subject, check, found, change);
    }

    private void has(String level, String subject, String check, String found, String change) {
      assertThat(findings(subject, check))
          .anySatisfy(finding -> {
            assertThat(finding.path("level").asText()).isEqualTo(level);
            assertThat(finding.path("found").asText()).contains(found);
            assertThat(finding.path("change").asText()).contains(change);
          });
    }
  }

  private static Run run(String... replicasAndFlags) throws Exception {
    List<String> args = new ArrayList<>(List.of("--json"));
    if (!List.of(replicasAndFlags).contains(IN_VAIN)) {
      args.addAll(List.of(IN_VAIN, "30")); // what comes ends it
    }
    if (!List.of(replicasAndFlags).contains("--tokenizer")) {
      args.addAll(List.of("--tokenizer", "sim=embedded"));
    }
    for (String given : replicasAndFlags) {
      if (given.matches("[a-z]=http.*")) {
        args.add("--replica");
      }
      args.add(given);
    }
    DoctorCommand command = new DoctorCommand();
    new CommandLine(command).parseArgs(args.toArray(String[]::new));
    PrintStream out = System.out;
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    System.setOut(new PrintStream(bytes, true, StandardCharsets.UTF_8));
    try {
      int exitCode = command.call();
      String report = // behind what was logged
          bytes
              .toString(StandardCharsets.UTF_8)
              .lines()
              .reduce((before, last) -> last)
              .orElseThrow();
      return new Run(exitCode, new ObjectMapper().readTree(report));
    } finally {
      System.setOut(out);
    }
  }
}
