package dev.warmpath.lab.chaos;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import com.fasterxml.jackson.databind.JsonNode;
import dev.warmpath.lab.bench.BenchOutput;
import dev.warmpath.lab.bench.ChildProcess;
import dev.warmpath.lab.bench.JavaCommand;
import dev.warmpath.lab.bench.LoopbackPorts;
import dev.warmpath.lab.chaos.DayReport.HealthWatch;
import dev.warmpath.lab.chaos.DayReport.Scene;
import dev.warmpath.router.cli.Main;
import dev.warmpath.router.security.Secrets;
import dev.warmpath.simulator.demo.FleetPage;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublisher;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Plays what happens to a router on an ordinary day, before a real process with a small heap, and
 * holds it to two promises: no healthy engine is lost, and no answer is killed that would have
 * come.
 *
 * <p>The router's limits are a tenth to a hundredth of their defaults, so that a scene takes
 * seconds; what an engine or client does takes a multiple of these limits.
 *
 * <p>Confined to one thread; runs once.
 */
final class OrdinaryDay implements AutoCloseable {

  private static final String HEAP = "-Xmx384m";
  private static final int LIMIT_MILLIS = 1_000; // the router's limits on silence
  private static final int BEYOND_MILLIS = 3 * LIMIT_MILLIS;
  private static final Duration START_LIMIT = Duration.ofSeconds(60);
  private static final Duration ANSWER_LIMIT = Duration.ofSeconds(30);
  private static final Duration RECOVERY_LIMIT = Duration.ofSeconds(45); // beyond any ejection
  private static final int OK = 200;
  private static final int BOMBS = 24;
  private static final int BOMB_BYTES = 4_000_000;
  private static final int FLOOD_CONNECTIONS = 200;
  private static final int FLOOD_STREAMS = 500;
  private static final String CHAT =
      "{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":\"Good morning.\"}]}";
  private static final String STREAM = CHAT.replaceFirst("\\{", "{\"stream\":true,");

  private final DayReport report;
  private final String key = Secrets.fresh();
  private final List<ScriptedEngine> engines = new ArrayList<>();
  private final HttpClient http =
      HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
  private final DayNames names;
  private final Path configFile;
  private final Path keysFile;
  private final int port = LoopbackPorts.free();
  private final int adminPort = LoopbackPorts.free();
  private final ChildProcess router;

  /**
   * Starts the router.
   *
   * @param findings gets one line for each thing that must not be
   */
  OrdinaryDay(Consumer<String> findings) throws IOException {
    report = new DayReport(findings);
    for (String name : List.of("morning", "noon", "evening", "night")) {
      engines.add(new ScriptedEngine(name));
    }
    names = new DayNames();
    Path folder = BenchOutput.temporaryFolder("warmpath-day");
    configFile = folder.resolve("warmpath.yaml");
    keysFile = folder.resolve("keys.yaml");
    Files.writeString(configFile, config());
    Files.writeString(keysFile, keys(key));
    List<String> java = List.of(HEAP, "-XX:+UseG1GC", "-XX:+ExitOnOutOfMemoryError");
    List<String> serve = List.of("serve", "--config", configFile.toString());
    router =
        ChildProcess.start(
            "the router", JavaCommand.with(java, Main.class, serve), folder.resolve("router.log"));
  }

  /**
   * Plays all scenes.
   *
   * @throws IOException if the router does not start, or ends
   */
  DayReport run() throws IOException, InterruptedException {
    router.await("all engines", START_LIMIT, () -> allServe());
    HealthWatch health = new HealthWatch(port);
    play("slowHealthChecks", this::slowHealthChecks);
    play("silentStreams", this::silentStreams);
    play("lateAnswers", this::lateAnswers);
    play("slowUploads", this::slowUploads);
    play("interimAnswers", this::interimAnswers);
    play("poison", this::poison);
    play("retiredEngine", this::retired);
    play("namesThatStopResolving", this::namesThatStopResolving);
    play("filesCutWhileRead", this::filesCutWhileRead);
    play("bodyBombs", this::bodyBombs);
    play("http2Floods", this::http2Floods);
    play("clockSteps", ClockSteps::play);
    router.requireAlive();
    health.end();
    report.healthChecks(health.asked(), health.late());
    return report;
  }

  private interface Play {
    void in(Scene scene) throws IOException, InterruptedException;
  }

  /** Plays a scene, and lets the fleet recover from it so that the next begins as the first did. */
  private void play(String name, Play play) throws IOException, InterruptedException {
    router.requireAlive();
    Scene scene = report.scene(name);
    try {
      play.in(scene);
      requireBack(scene);
    } catch (IOException e) {
      scene.fail(String.valueOf(e));
    }
  }

  @Override
  public void close() {
    router.close();
    engines.forEach(ScriptedEngine::close);
    names.close();
  }

  /** Engines that are busy answer {@code /health} late; they serve all the same. */
  private void slowHealthChecks(Scene scene) throws IOException, InterruptedException {
    for (int i = 0; i < 2 * engines.size(); i++) {
      expectAnswer(scene, send(CHAT, "")); // each has answered lately
    }
    engines.forEach(engine -> engine.delayHealth(2 * LIMIT_MILLIS));
    for (int i = 0; i < 40; i++) {
      expectAnswer(scene, send(CHAT, ""));
      TimeUnit.MILLISECONDS.sleep(LIMIT_MILLIS / 10);
    }
    engines.forEach(engine -> engine.delayHealth(0));
    requireNoneLost(scene);
  }

  /** A tool parser holds back a large argument, or a request is preempted. */
  private void silentStreams(Scene scene) throws IOException, InterruptedException {
    await(scene, sendAll(STREAM, "silent " + BEYOND_MILLIS, 4));
    requireNoneLost(scene);
  }

  /** A thinking model's plain answer has no byte before its last. */
  private void lateAnswers(Scene scene) throws IOException, InterruptedException {
    int before = requests();
    await(scene, sendAll(CHAT, "late " + BEYOND_MILLIS, 8));
    scene.check(
        requests() == before + 8, "8 requests became " + (requests() - before) + " at the engines");
    requireNoneLost(scene);
  }

  /** An image from a slow line: bytes flow all the time, four times as long as silence may last. */
  private void slowUploads(Scene scene) throws IOException, InterruptedException {
    String image =
        "{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":\""
            + "a".repeat(400_000)
            + "\"}]}";
    byte[] body = image.getBytes(ISO_8859_1);
    try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
      socket.setSoTimeout((int) ANSWER_LIMIT.toMillis());
      OutputStream out = socket.getOutputStream();
      out.write(head("POST /v1/chat/completions", body.length));
      int piece = body.length / 40;
      for (int at = 0; at < body.length; at += piece) {
        out.write(body, at, Math.min(piece, body.length - at));
        TimeUnit.MILLISECONDS.sleep(LIMIT_MILLIS / 10);
      }
      expectStatus(scene, socket, OK);
    } catch (IOException e) {
      scene.fail("an upload that flowed was cut: " + e);
    }
    requireNoneLost(scene);
  }

  /** The final answer counts; an upgrade that nobody asked for is none. */
  private void interimAnswers(Scene scene) throws IOException, InterruptedException {
    try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
      socket.setSoTimeout((int) ANSWER_LIMIT.toMillis());
      socket.getOutputStream().write(post("interim"));
      expectStatus(scene, socket, OK);
    }
    try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
      socket.setSoTimeout((int) ANSWER_LIMIT.toMillis());
      socket.getOutputStream().write(post("switch"));
      expectStatus(scene, socket, 502);
    }
  }

  /** A request that kills the engine that computes it kills two at most. */
  private void poison(Scene scene) throws IOException, InterruptedException {
    HttpResponse<String> answer = send(CHAT, "poison");
    long dead = engines.stream().filter(ScriptedEngine::isDead).count();
    scene.check(dead <= 2, dead + " engines died of one request");
    scene.check(answer.statusCode() == 502, "the request that kills got " + answer.statusCode());
    for (int i = 0; i < 20; i++) {
      expectAnswer(scene, send(CHAT, ""));
    }
    engines.forEach(ScriptedEngine::revive);
  }

  /** Healthy by its check, and 503 to each request: scaled down, paused or asleep. */
  private void retired(Scene scene) throws IOException, InterruptedException {
    engines.get(0).retire(true);
    for (int i = 0; i < 40; i++) {
      expectAnswer(scene, send(CHAT, ""));
    }
    engines.get(0).retire(false);
  }

  /** A name server that fails or is silent takes no replica away. */
  private void namesThatStopResolving(Scene scene) throws IOException, InterruptedException {
    for (DayNames.Mood mood : List.of(DayNames.Mood.FAILING, DayNames.Mood.SILENT)) {
      names.mood(mood);
      for (int i = 0; i < 20; i++) {
        expectAnswer(scene, send(CHAT, ""));
        TimeUnit.MILLISECONDS.sleep(LIMIT_MILLIS / 10);
      }
      requireNoneLost(scene);
    }
    names.mood(DayNames.Mood.ANSWERING);
  }

  /** Files are emptied, half written and restored while they are watched. */
  private void filesCutWhileRead(Scene scene) throws IOException, InterruptedException {
    for (Path file : List.of(configFile, keysFile)) {
      String good = Files.readString(file);
      for (String cut : List.of("", good.substring(0, good.length() / 2), good)) {
        Files.writeString(file, cut);
        for (int i = 0; i < 10; i++) {
          expectAnswer(scene, send(CHAT, ""));
          TimeUnit.MILLISECONDS.sleep(LIMIT_MILLIS / 20);
        }
      }
    }
    requireNoneLost(scene);
    String second = Secrets.fresh();
    Files.writeString(
        keysFile, keys(key) + keys(second).replaceFirst("keys:\n", "").replace("day", "late"));
    boolean taken = false;
    for (int i = 0; i < 100 && !taken; i++) {
      taken = status(request(BodyPublishers.ofString(CHAT), "", second)) == OK;
      TimeUnit.MILLISECONDS.sleep(LIMIT_MILLIS / 10);
    }
    scene.check(taken, "a key that was added after all this is not taken");
    scene.check(
        status(request(BodyPublishers.ofString(CHAT), "", Secrets.fresh())) == 401,
        "an unknown key is not refused");
  }

  /** Small bodies that become large trees. */
  private void bodyBombs(Scene scene) throws IOException, InterruptedException {
    StringBuilder bomb =
        new StringBuilder(BOMB_BYTES + 100).append("{\"model\":\"m\",\"messages\":[{}");
    while (bomb.length() < BOMB_BYTES) {
      bomb.append(",{}");
    }
    String body = bomb.append("]}").toString();
    List<CompletableFuture<HttpResponse<String>>> sent = new ArrayList<>();
    for (int i = 0; i < BOMBS; i++) {
      HttpRequest request = request(BodyPublishers.ofString(body), "", key);
      sent.add(http.sendAsync(request, BodyHandlers.ofString()));
    }
    for (CompletableFuture<HttpResponse<String>> answer : sent) {
      try {
        int status = answer.join().statusCode();
        scene.check(status == OK || status == 503 || status == 413, "a bomb got " + status);
      } catch (RuntimeException e) {
        scene.fail("a bomb got no answer: " + e.getCause());
      }
    }
    router.requireAlive();
    for (int i = 0; i < 20; i++) {
      expectAnswer(scene, send(CHAT, ""));
    }
    requireNoneLost(scene);
  }

  /** Streams that are opened and reset at once, on many connections. */
  private void http2Floods(Scene scene) throws IOException, InterruptedException {
    byte[] authority = ("127.0.0.1:" + port).getBytes(ISO_8859_1);
    Thread[] floods = new Thread[4];
    for (int i = 0; i < floods.length; i++) {
      floods[i] =
          new Thread(() -> {
            for (int n = 0; n < FLOOD_CONNECTIONS / 4; n++) {
              RapidReset.send(port, authority, "Bearer " + key, FLOOD_STREAMS);
            }
          });
      floods[i].start();
    }
    while (Arrays.stream(floods).anyMatch(Thread::isAlive)) {
      int status = send(CHAT, "").statusCode();
      scene.check(status == OK || status == 503, "a chat beside the flood got " + status);
    }
    router.requireAlive();
    requireBack(scene);
    for (int i = 0; i < 20; i++) {
      expectAnswer(scene, send(CHAT, ""));
    }
  }

  // ── what is sent, and what must come ──

  private List<CompletableFuture<HttpResponse<String>>> sendAll(
      String body, String script, int times) {
    List<CompletableFuture<HttpResponse<String>>> sent = new ArrayList<>();
    for (int i = 0; i < times; i++) {
      sent.add(
          http.sendAsync(
              request(BodyPublishers.ofString(body), script, key), BodyHandlers.ofString()));
    }
    return sent;
  }

  private static void await(Scene scene, List<CompletableFuture<HttpResponse<String>>> sent) {
    for (CompletableFuture<HttpResponse<String>> answer : sent) {
      try {
        expectAnswer(scene, answer.join());
      } catch (RuntimeException e) {
        scene.fail("an answer was killed: " + e.getCause());
      }
    }
  }

  private static void expectAnswer(Scene scene, HttpResponse<String> answer) {
    String body = answer.body();
    boolean whole = !body.startsWith("data:") || body.endsWith("data: [DONE]\n\n");
    if (answer.statusCode() == OK && whole && body.contains("\"content\":\"ok\"")) {
      scene.answered();
    } else {
      scene.fail("an answer was killed: " + answer.statusCode() + " " + last(body));
    }
  }

  private static String last(String body) {
    return body.substring(Math.max(0, body.length() - 200)).strip();
  }

  private HttpResponse<String> send(String body, String script)
      throws IOException, InterruptedException {
    return http.send(request(BodyPublishers.ofString(body), script, key), BodyHandlers.ofString());
  }

  private int status(HttpRequest request) throws IOException, InterruptedException {
    return http.send(request, BodyHandlers.discarding()).statusCode();
  }

  private HttpRequest request(BodyPublisher body, String script, String with) {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + "/v1/chat/completions"))
            .timeout(ANSWER_LIMIT)
            .header("content-type", "application/json")
            .header("authorization", "Bearer " + with)
            .POST(body);
    return (script.isEmpty() ? request : request.header(ScriptedEngine.SCRIPT, script)).build();
  }

  private byte[] post(String script) {
    String head = new String(head("POST /v1/chat/completions", CHAT.length()), ISO_8859_1);
    String scripted =
        head.replace("\r\n\r\n", "\r\n" + ScriptedEngine.SCRIPT + ": " + script + "\r\n\r\n");
    return (scripted + CHAT).getBytes(ISO_8859_1);
  }

  private byte[] head(String line, int length) {
    return """
    %s HTTP/1.1
    host: day
    content-type: application/json
    authorization: Bearer %s
    content-length: %d

    """
        .formatted(line, key, length)
        .replace("\n", "\r\n")
        .getBytes(ISO_8859_1);
  }

  /** Reads the head of an answer, past interim ones. */
  private static void expectStatus(Scene scene, Socket socket, int expected) throws IOException {
    int status;
    do {
      StringBuilder head = new StringBuilder();
      while (head.indexOf("\r\n\r\n") < 0) {
        int c = socket.getInputStream().read();
        if (c < 0) {
          throw new IOException("the connection ended after '" + head + "'");
        }
        head.append((char) c);
      }
      status = Integer.parseInt(head.substring(9, 12));
    } while (status / 100 == 1 && status != 101);
    if (status == expected) {
      scene.answered();
    } else {
      scene.fail("status " + status + " where " + expected + " was expected");
    }
  }

  private int requests() {
    return engines.stream().mapToInt(ScriptedEngine::requests).sum();
  }

  // ── the fleet as the router sees it ──

  /** An engine that was well all the time must not have been taken down or ejected. */
  private void requireNoneLost(Scene scene) throws InterruptedException {
    String lost = lost();
    scene.check(lost == null, "healthy engine lost: " + lost);
  }

  /** All engines are well again: each is back in time. */
  private void requireBack(Scene scene) throws IOException, InterruptedException {
    long begin = System.nanoTime();
    while (lost() != null) {
      if (System.nanoTime() - begin > RECOVERY_LIMIT.toNanos()) {
        scene.fail("engine lost for good: " + lost());
        return;
      }
      send(CHAT, ""); // an ejected engine is tried with one
      TimeUnit.MILLISECONDS.sleep(LIMIT_MILLIS / 20);
    }
  }

  private boolean allServe() throws InterruptedException {
    return lost() == null;
  }

  /** A replica that takes no requests now, and why; null if all do. */
  private @Nullable String lost() throws InterruptedException {
    JsonNode replicas = new FleetPage("http://127.0.0.1:" + adminPort).read().path("replicas");
    if (replicas.size() != engines.size()) {
      return "%d of %d replicas are there".formatted(replicas.size(), engines.size());
    }
    for (JsonNode replica : replicas) {
      String circuit = replica.path("engines").path(0).path("circuit").asText();
      if (!replica.path("health").asText().equals("up") || !circuit.equals("closed")) {
        return replica.path("name").asText()
            + " is "
            + replica.path("health").asText()
            + ", circuit "
            + circuit;
      }
    }
    return null;
  }

  private String config() {
    StringBuilder yaml =
        new StringBuilder(
            """
            listen: {port: %d, http2: true}
            admin: {port: %d}
            auth: {keys-file: %s}
            reload: {watch: true}
            files: {poll-ms: 50}
            policy: {name: round-robin}
            health: {interval-ms: 200, timeout-ms: 300, fall: 2}
            timeouts: {connect-ms: 500, request-body-ms: %4$d, first-byte-ms: %4$d, stream-idle-ms: %4$d, total-ms: 20000}
            snapshot: {enabled: false}
            warm-up: {seconds: 0}
            models: [{name: m, tokenizer: embedded}]
            discovery:
              - {kind: dns, host: %5$s, port: %6$d, server: "127.0.0.1:%7$d", interval-ms: 200}
            replicas:
            """
                .formatted(
                    port,
                    adminPort,
                    keysFile,
                    LIMIT_MILLIS,
                    DayNames.NAME,
                    engines.get(engines.size() - 1).port(),
                    names.port()));
    for (ScriptedEngine engine : engines.subList(0, engines.size() - 1)) {
      yaml.append(
          "  - {name: %s, url: \"http://127.0.0.1:%d\"}\n".formatted(engine.name(), engine.port()));
    }
    return yaml.toString();
  }

  private static String keys(String key) {
    return "keys:\n  - {name: day, sha256: [%s]}\n".formatted(Secrets.hash(key));
  }

  /**
   * A name server (RFC 1035, by UDP) that knows one name, has it at 127.0.0.1, and can stop to
   * answer.
   *
   * <p>Thread-safe.
   */
  private static final class DayNames implements AutoCloseable {

    static final String NAME = "engines.day.";

    private static final int HEADER_BYTES = 12;
    private static final int ANSWER = 0x8480; // a response, with authority, recursion available
    private static final int SERVFAIL = 2;
    private static final int TYPE_A = 1;
    private static final int CLASS_IN = 1;
    private static final int TTL_SECONDS = 1;

    /** What it does with a question. */
    enum Mood {
      ANSWERING,
      /** Answers SERVFAIL. */
      FAILING,
      SILENT
    }

    private final DatagramSocket socket;
    private volatile Mood mood = Mood.ANSWERING;

    DayNames() throws IOException {
      socket = new DatagramSocket(0, InetAddress.getLoopbackAddress());
      Thread thread = new Thread(this::serve, "day-names");
      thread.setDaemon(true);
      thread.start();
    }

    int port() {
      return socket.getLocalPort();
    }

    void mood(Mood next) {
      mood = next;
    }

    @Override
    public void close() {
      socket.close();
    }

    private void serve() {
      byte[] bytes = new byte[512];
      try {
        while (true) {
          DatagramPacket packet = new DatagramPacket(bytes, bytes.length);
          socket.receive(packet);
          if (mood != Mood.SILENT && packet.getLength() > HEADER_BYTES) {
            byte[] answer = answer(ByteBuffer.wrap(bytes, 0, packet.getLength()));
            socket.send(new DatagramPacket(answer, answer.length, packet.getSocketAddress()));
          }
        }
      } catch (IOException e) {
        if (!socket.isClosed()) {
          throw new UncheckedIOException(e);
        }
      }
    }

    private byte[] answer(ByteBuffer question) {
      int end = HEADER_BYTES;
      while (question.get(end) != 0) {
        end += question.get(end) + 1;
      }
      int type = question.getShort(end + 1);
      end += 5;
      boolean known = type == TYPE_A && mood == Mood.ANSWERING;
      ByteBuffer answer = ByteBuffer.allocate(end + 16);
      answer.putShort(question.getShort(0));
      answer.putShort((short) (mood == Mood.FAILING ? ANSWER | SERVFAIL : ANSWER));
      answer.putShort((short) 1).putShort((short) (known ? 1 : 0)).putInt(0);
      answer.put(question.slice(HEADER_BYTES, end - HEADER_BYTES));
      if (known) {
        answer.putShort((short) (0xc000 | HEADER_BYTES)).putShort((short) TYPE_A);
        answer.putShort((short) CLASS_IN).putInt(TTL_SECONDS).putShort((short) 4);
        answer.put(new byte[] {127, 0, 0, 1});
      }
      byte[] bytes = new byte[answer.position()];
      answer.flip().get(bytes);
      return bytes;
    }
  }
}
