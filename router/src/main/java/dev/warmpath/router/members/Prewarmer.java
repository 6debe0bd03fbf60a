package dev.warmpath.router.members;

import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.warmpath.kvindex.KvIndex;
import dev.warmpath.router.config.RouterConfig;
import dev.warmpath.router.dispatch.Dispatcher;
import dev.warmpath.router.dispatch.Prewarming;
import dev.warmpath.router.dispatch.Prewarming.Answer;
import dev.warmpath.router.dispatch.Prewarming.Result;
import dev.warmpath.router.fleet.EngineState;
import dev.warmpath.router.fleet.Replica;
import dev.warmpath.router.fleet.SharedPrefix;
import dev.warmpath.router.proxy.Headers;
import dev.warmpath.router.upstream.EngineClient;
import dev.warmpath.router.upstream.Upstreams;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Lets engines compute shared prefixes as completions of token ids, and looks after them on a
 * thread of its own: ten times a second while something is under way, else once.
 *
 * <p>Thread-safe.
 */
public final class Prewarmer implements Prewarming.Sender, AutoCloseable {

  private static final Logger LOG = LoggerFactory.getLogger(Prewarmer.class);
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final String PATH = "/v1/completions";
  private static final long LOOK_MILLIS = 100;
  private static final long IDLE_LOOK_MILLIS = 1_000;

  /** So long an engine may take for one prefix. */
  private static final long TIMEOUT_MILLIS = TimeUnit.MINUTES.toMillis(1);

  /** Of one replica, which may have as many ranks. */
  private static final int CONNECTIONS = 64;

  private static final int ANSWER_BYTES = 1 << 16;
  private static final int TOO_MANY = 429;
  private static final int UNAVAILABLE = 503;

  private final EngineClient client;
  private final Prewarming prewarming;
  private final BooleanSupplier isFirst;
  private final Runnable keepsTokens;
  private final AtomicLong sent = new AtomicLong();
  private final ScheduledExecutorService thread =
      Executors.newSingleThreadScheduledExecutor(work -> {
        Thread looking = new Thread(work, "warmpath-prewarming");
        looking.setDaemon(true);
        return looking;
      });

  /**
   * Begins to look.
   *
   * @param running the configuration that holds
   * @param isFirst whether newcomers are this router's to see to, among several
   */
  public Prewarmer(
      Dispatcher dispatcher,
      KvIndex index,
      Upstreams upstreams,
      Supplier<RouterConfig> running,
      BooleanSupplier isFirst) {
    this.isFirst = isFirst;
    this.client =
        upstreams.newClient(
            "prewarm",
            new EngineClient.Limits(
                () -> running.get().timeouts().connectMs(), CONNECTIONS, ANSWER_BYTES));
    this.prewarming =
        new Prewarming(dispatcher, index, this, () -> running.get().fleet().prewarmMs(), true);
    this.keepsTokens =
        () -> dispatcher.prefixes().keepTokens(running.get().fleet().prewarmMs() > 0);
    keepsTokens.run();
    dispatcher.listen(prewarming);
    lookAgain();
  }

  private void lookAgain() {
    long millis = prewarming.isUnderWay() ? LOOK_MILLIS : IDLE_LOOK_MILLIS;
    try {
      var unused =
          thread.schedule(
              () -> {
                look();
                lookAgain();
              },
              millis,
              TimeUnit.MILLISECONDS);
    } catch (RejectedExecutionException e) {
      LOG.debug("no further look after the end", e);
    }
  }

  /** What is done where. */
  public Prewarming prewarming() {
    return prewarming;
  }

  /** The fleet may have changed, or time has passed. */
  public void look() {
    try {
      keepsTokens.run();
      prewarming.look(isFirst.getAsBoolean());
    } catch (RuntimeException e) {
      LOG.error("shared prefixes could not be seen to", e);
    }
  }

  @Override
  public Runnable send(EngineState engine, SharedPrefix prefix, Consumer<Answer> done) {
    Replica replica = engine.replica();
    Map<String, String> headers = new HashMap<>();
    headers.put("x-request-id", "warmpath-prewarm-" + sent.incrementAndGet());
    if (replica.ranks() > 1) {
      headers.put(Headers.RANK, Integer.toString(replica.headerRank(engine.dpRank())));
    }
    EngineClient.Call call = client.call(replica, PATH, body(prefix), headers, TIMEOUT_MILLIS);
    call.answer()
        .onSuccess(answer -> execute(() -> done.accept(answer(answer))))
        .onFailure(e -> {
          LOG.debug("{}: a shared prefix was not computed", engine.name(), e);
          execute(() -> done.accept(new Answer(Result.FAILED, -1, "no answer")));
        });
    return call.breakOff();
  }

  /** What follows an answer is no work for an event loop. */
  private void execute(Runnable work) {
    try {
      thread.execute(() -> {
        try {
          work.run();
        } catch (RuntimeException e) {
          LOG.error("the answer for a shared prefix could not be seen to", e);
        }
      });
    } catch (RejectedExecutionException e) {
      LOG.debug("an answer came after the end", e);
    }
  }

  /**
   * With a token behind the prefix, for some engines share all of a prompt but its last one.
   * Without a priority, which vLLM's default scheduler refuses: it gives way instead.
   */
  private static byte[] body(SharedPrefix prefix) {
    int[] ids = Objects.requireNonNull(prefix.tokenIds());
    ByteArrayOutputStream body = new ByteArrayOutputStream(8 * ids.length + 128);
    try (JsonGenerator json = JSON.getFactory().createGenerator(body)) {
      json.writeStartObject();
      if (prefix.model() != null) {
        json.writeStringField("model", prefix.model());
      }
      json.writeFieldName("prompt");
      json.writeStartArray();
      for (int id : ids) {
        json.writeNumber(id);
      }
      json.writeNumber(ids[0]);
      json.writeEndArray();
      json.writeNumberField("max_tokens", 1);
      json.writeEndObject();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return body.toByteArray();
  }

  private static Answer answer(EngineClient.Answer answer) {
    int status = answer.status();
    if (status / 100 == 2) {
      return new Answer(Result.COMPUTED, computedTokens(answer.body()), null);
    }
    boolean isBusy = status == TOO_MANY || status == UNAVAILABLE;
    Result refused = status / 100 == 4 ? Result.REFUSED : Result.FAILED;
    return new Answer(isBusy ? Result.BUSY : refused, -1, "HTTP " + status);
  }

  /** By its usage; below 0 if it does not tell. */
  private static int computedTokens(byte[] body) {
    try {
      JsonNode usage = JSON.readTree(body).path("usage");
      JsonNode cached = usage.path("prompt_tokens_details").path("cached_tokens");
      boolean isTold = usage.path("prompt_tokens").isInt() && cached.isInt();
      return isTold ? Math.max(0, usage.path("prompt_tokens").intValue() - cached.intValue()) : -1;
    } catch (IOException e) {
      LOG.debug("an answer that is no JSON", e);
      return -1;
    }
  }

  @Override
  public void began(EngineState engine, Prewarming.Status status) {
    LOG.info(
        "{}: computes what sessions share, {} prefixes, {} are too long for it",
        engine.name(),
        status.prefixes(),
        status.tooLong());
  }

  @Override
  public void ended(EngineState engine, Prewarming.Status status) {
    LOG.info(
        "{}: computed {} of {} prefixes that sessions share, {} tokens in {} ms ({}{})",
        engine.name(),
        status.computed(),
        status.prefixes(),
        status.tokens(),
        status.millis(),
        status.state().label(),
        status.problem() == null ? "" : ": " + status.problem());
  }

  /** Why it does not begin, for operators; null if it does. */
  public static @Nullable String obstacle(Prewarming.State state) {
    return switch (state) {
      case NOTHING_SHARED ->
          "no prefix is known that sessions of its models share, that is short enough for them there,"
              + " and whose tokens are exact";
      case NOT_EXACT -> "its events do not tell exactly what it holds";
      case NOT_WELL -> "it is down, asleep, ejected or drained";
      case DECODES -> "other engines compute its prompts";
      case PREFILLS -> "it computes prompts for others, and may not take one that is for itself";
      case OFF -> "fleet.prewarm-ms is 0, so no tokens of prompts are kept";
      default -> null;
    };
  }

  @Override
  public void close() {
    thread.shutdownNow();
    prewarming.close();
    client.close();
  }
}
