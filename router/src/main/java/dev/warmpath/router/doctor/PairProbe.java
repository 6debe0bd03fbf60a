package dev.warmpath.router.doctor;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.warmpath.router.doctor.FleetFacts.PairTrial;
import dev.warmpath.router.doctor.TrialProbe.TrialPrompt;
import dev.warmpath.router.fleet.KvTransfer;
import dev.warmpath.router.fleet.Replica;
import dev.warmpath.router.health.MetricsPage;
import dev.warmpath.router.prompt.RequestFields;
import dev.warmpath.router.proxy.Handoff;
import dev.warmpath.router.proxy.KvProtocol;
import dev.warmpath.router.proxy.Usage;
import dev.warmpath.router.proxy.UsageScanner;
import dev.warmpath.router.upstream.EngineClient.Answer;
import dev.warmpath.router.upstream.EngineHttp;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BiPredicate;
import org.jspecify.annotations.Nullable;

/**
 * Has one engine compute a prompt for another one, as the router does, and reads by the other's
 * metrics whether its KV cache came over. Blocks.
 *
 * <p>Confined to one thread: what a pair transfers would count for another pair.
 */
final class PairProbe {

  /** Two replicas of which the first can compute for the second. */
  record Pair(Replica prefill, Replica decode) {}

  /** Each takes some tenths of a second when all is well, and a minute when not. */
  static final int MOST_PAIRS = 64;

  private static final int OK = 200;
  private static final int ANSWER_TOKENS = 4;
  private static final int SHOWN_CHARS = 200;
  private static final long LOOK_AGAIN_NANOS = 100_000_000;
  private static final Duration REQUEST_LIMIT = Duration.ofSeconds(60);
  private static final ObjectMapper JSON = new ObjectMapper();

  private final EngineHttp http;
  private final Duration patience;

  PairProbe(EngineHttp http, Duration patience) {
    this.http = http;
    this.patience = patience;
  }

  /**
   * Each that computes and each that answers at least once, but no product of them.
   *
   * @param shareModel whether there is a model that both serve
   */
  static List<Pair> pairs(List<Replica> fleet, BiPredicate<Replica, Replica> shareModel) {
    BiPredicate<Replica, Replica> reaches =
        shareModel.and((from, to) -> from != to && from.transfer().reaches(to.transfer()));
    List<Pair> pairs = new ArrayList<>();
    Map<Replica, Integer> answering = new HashMap<>();
    Map<Replica, Integer> computing = new HashMap<>();
    for (Replica from : fleet) {
      fleet.stream()
          .filter(to -> reaches.test(from, to))
          .min(Comparator.comparingInt(to -> answering.getOrDefault(to, 0)))
          .ifPresent(to -> {
            pairs.add(new Pair(from, to));
            computing.merge(from, 1, Integer::sum);
            answering.merge(to, 1, Integer::sum);
          });
    }
    for (Replica to : fleet) {
      if (!answering.containsKey(to)) {
        fleet.stream()
            .filter(from -> reaches.test(from, to))
            .min(Comparator.comparingInt(from -> computing.getOrDefault(from, 0)))
            .ifPresent(from -> {
              pairs.add(new Pair(from, to));
              computing.merge(from, 1, Integer::sum);
            });
      }
    }
    return pairs.subList(0, Math.min(pairs.size(), MOST_PAIRS));
  }

  PairTrial run(Pair pair, TrialPrompt prompt) {
    try {
      double before = received(pair.decode);
      Answer answer = ask(pair, prompt);
      int tokens = usage(answer).promptTokens();
      return new PairTrial(
          pair.prefill.name(), pair.decode.name(), null, tokens, growth(pair.decode, before));
    } catch (CompletionException | IOException e) {
      return failed(pair, String.valueOf(e.getMessage()));
    }
  }

  private static PairTrial failed(Pair pair, String problem) {
    return new PairTrial(
        pair.prefill.name(), pair.decode.name(), problem, Usage.ABSENT, Double.NaN);
  }

  /** Both legs; the answer is the decode's. */
  private Answer ask(Pair pair, TrialPrompt prompt) throws IOException {
    KvTransfer transfer = pair.prefill.transfer();
    KvProtocol protocol = Objects.requireNonNull(KvProtocol.of(transfer.connector()));
    byte[] body =
        prompt
            .body()
            .deepCopy()
            .put("max_tokens", ANSWER_TOKENS)
            .toString()
            .getBytes(StandardCharsets.UTF_8);
    RequestFields fields = Objects.requireNonNull(RequestFields.of(body));
    Handoff handoff = handoff(pair);
    if (transfer.connector() == KvTransfer.Connector.MOONCAKE) {
      handoff = handoff.named(engineId(transfer));
    }
    CompletableFuture<Answer> computed =
        send(pair.prefill, prompt, protocol.prefill(fields, handoff));
    if (transfer.connector().isTogether()) {
      byte[] decode = Objects.requireNonNull(protocol.decode(fields, handoff, null));
      return both(computed, send(pair.decode, prompt, decode));
    }
    JsonNode told = json(computed.join());
    byte[] decode = protocol.decode(fields, handoff, told);
    if (decode == null) {
      throw new IOException(pair.prefill.name() + " computes the prompt and hands nothing over");
    }
    return send(pair.decode, prompt, decode).join();
  }

  /**
   * Of two legs the one that fails first is to blame, as the other one waits for it in vain. Both
   * end before another pair is tried.
   */
  private static Answer both(
      CompletableFuture<Answer> computed, CompletableFuture<Answer> answered) {
    CompletableFuture<Object> first = CompletableFuture.anyOf(answered, computed);
    CompletableFuture.allOf(answered, computed).handle((ended, failure) -> true).join();
    first.join();
    computed.join();
    return answered.join();
  }

  private static Handoff handoff(Pair pair) {
    UUID id = UUID.randomUUID();
    return new Handoff(
        "wp-doctor-" + id,
        id.getMostSignificantBits() & Long.MAX_VALUE,
        false,
        false,
        end(pair.prefill),
        end(pair.decode));
  }

  private static Handoff.End end(Replica at) {
    KvTransfer there = at.transfer();
    return new Handoff.End(there.host(), there.port(), there.secondPort(), 0, at.ranks(), "");
  }

  private CompletableFuture<Answer> send(Replica to, TrialPrompt prompt, byte[] body) {
    Map<String, String> headers =
        to.ranks() > 1
            ? Map.of("x-data-parallel-rank", Integer.toString(to.headerRank(0)))
            : Map.of();
    CompletableFuture<Answer> asked = http.post(to, prompt.path(), body, headers, REQUEST_LIMIT);
    return reached(to, prompt.path(), asked, REQUEST_LIMIT).thenApply(answer -> good(to, answer));
  }

  /** What failed says at which replica. */
  private static CompletableFuture<Answer> reached(
      Replica at, String path, CompletableFuture<Answer> asked, Duration limit) {
    return asked.exceptionally(failure -> {
      String why = HttpProbe.problem(failure, at.baseUrl(), limit);
      throw new CompletionException("%s at %s: %s".formatted(path, at.name(), why), failure);
    });
  }

  private static Answer good(Replica at, Answer answer) {
    if (answer.status() == OK) {
      return answer;
    }
    String body = new String(answer.body(), StandardCharsets.UTF_8).strip();
    String shown = body.length() > SHOWN_CHARS ? body.substring(0, SHOWN_CHARS) + "…" : body;
    throw new CompletionException(at.name() + " answers " + answer.status() + " " + shown, null);
  }

  private static @Nullable JsonNode json(Answer answer) throws IOException {
    try {
      return JSON.readTree(answer.body());
    } catch (JsonProcessingException e) {
      return null;
    }
  }

  /** Mooncake's bootstrap server says what others call the engine. */
  private String engineId(KvTransfer transfer) throws IOException {
    URI uri = URI.create("http://" + transfer.host() + ":" + transfer.port() + "/query");
    try {
      HttpRequest request = HttpRequest.newBuilder(uri).timeout(patience).build();
      byte[] page = HttpClient.newHttpClient().send(request, BodyHandlers.ofByteArray()).body();
      String id = JSON.readTree(page).path("0").path("engine_id").asText("");
      if (id.isEmpty()) {
        throw new IOException("no engine_id");
      }
      return id;
    } catch (IOException e) {
      throw new IOException("the bootstrap server at " + uri + ": " + e.getMessage(), e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException("interrupted", e);
    }
  }

  private double received(Replica replica) {
    CompletableFuture<Answer> asked = http.get(replica, "/metrics", patience);
    Answer page = reached(replica, "/metrics", asked, patience).join();
    return MetricsPage.read(page.body()).receivedTokens();
  }

  /** Engines count after they have answered. */
  private double growth(Replica replica, double before) {
    long until = System.nanoTime() + patience.toNanos();
    double now = received(replica);
    while (now == before && System.nanoTime() < until) {
      LockSupport.parkNanos(LOOK_AGAIN_NANOS);
      now = received(replica);
    }
    return now - before;
  }

  private static Usage usage(Answer answer) {
    UsageScanner scanner = UsageScanner.of("application/json");
    scanner.feed(answer.body());
    return scanner.usage();
  }
}
