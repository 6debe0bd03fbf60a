package dev.warmpath.router.tokenize;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.router.Environment;
import dev.warmpath.router.rig.Backend;
import dev.warmpath.router.rig.Rig;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpServerRequest;
import java.math.BigInteger;
import java.net.URI;
import java.net.http.HttpRequest;
import java.time.Clock;
import java.time.Instant;
import java.time.InstantSource;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

class RemotePromptsTest {

  private static final LocalDate DAY = LocalDate.of(2026, 3, 14);
  private static final String RENDER = "/v1/chat/completions/render";

  /** Its own template makes that it cannot be rendered here. */
  private static final String CHAT =
      "{\"model\":\"m\",\"chat_template\":\"x\",\"messages\":[{\"role\":\"user\",\"content\":\"a\"}]}";

  /** Answers by path: a status, or a body; nothing at all for a path without an answer. */
  private static final class Engine implements Backend.Script {
    private final Map<String, Object> answers = new ConcurrentHashMap<>();
    private final Map<String, AtomicInteger> asked = new ConcurrentHashMap<>();
    private volatile String lastRendered = "";

    Engine() {
      answers.put("/v1/chat/completions", "{}");
    }

    @Override
    public void answer(HttpServerRequest request, Buffer body) {
      asked.computeIfAbsent(request.path(), path -> new AtomicInteger()).incrementAndGet();
      if (request.path().equals(RENDER)) {
        lastRendered = body.toString();
      }
      Object answer = answers.get(request.path());
      if (answer instanceof Integer status) {
        request.response().setStatusCode(status).end("{}");
      } else if (answer != null) {
        request.response().end((String) answer);
      }
    }

    int asked(String path) {
      return asked.getOrDefault(path, new AtomicInteger()).get();
    }
  }

  @Test
  void whatAnEngineRendersIsUsedAndRemembered() throws Exception {
    Engine engine = new Engine();
    engine.answers.put(RENDER, "{\"token_ids\":[1,2,3],\"features\":null}");
    try (Rig rig = rig(engine)) {
      assertThat(rig.chat(CHAT).statusCode()).isEqualTo(200);
      assertThat(rig.chat(CHAT).statusCode()).isEqualTo(200);
      assertThat(engine.asked(RENDER)).isEqualTo(1);
      assertThat(engine.lastRendered)
          .isEqualTo(CHAT.substring(0, CHAT.length() - 1) + ",\"mm_payload\":\"none\"}");
      assertThat(scrape(rig))
          .contains(
              "warmpath_remote_prompts_total{outcome=\"ok\",source=\"render\"} 1.0",
              "warmpath_remote_prompts_total{outcome=\"ok\",source=\"memory\"} 1.0")
          .doesNotContain("cause=\"request_template\"");
    }
  }

  @Test
  void whatAnEngineRenderedIsNotUsedOnAnotherDay() throws Exception {
    AtomicReference<Instant> now = new AtomicReference<>(Instant.parse("2026-03-14T12:00:00Z"));
    InstantSource time = now::get;
    Engine engine = new Engine();
    engine.answers.put(RENDER, "{\"token_ids\":[1,2,3],\"features\":null}");
    try (Rig rig = rig(engine, time.withZone(ZoneOffset.UTC), 60_000)) {
      assertThat(rendersOfTwoChats(rig, engine)).isEqualTo(1);
      now.set(Instant.parse("2026-03-14T22:58:30Z"));
      assertThat(rendersOfTwoChats(rig, engine)).as("the same day in Berlin").isZero();
      now.set(Instant.parse("2026-03-14T22:59:30Z"));
      assertThat(rendersOfTwoChats(rig, engine)).as("near midnight").isEqualTo(2);
      now.set(Instant.parse("2026-03-14T23:01:30Z"));
      assertThat(rendersOfTwoChats(rig, engine)).as("the next day").isEqualTo(1);
    }
  }

  private static int rendersOfTwoChats(Rig rig, Engine engine) throws Exception {
    int before = engine.asked(RENDER);
    assertThat(rig.chat(CHAT).statusCode()).isEqualTo(200);
    assertThat(rig.chat(CHAT).statusCode()).isEqualTo(200);
    return engine.asked(RENDER) - before;
  }

  @Test
  void explainAsksTheEngineAsARequestDoes() throws Exception {
    Engine engine = new Engine();
    engine.answers.put(RENDER, "{\"token_ids\":[1,2,3],\"features\":null}");
    try (Rig rig = rig(engine)) {
      URI uri = URI.create("http://127.0.0.1:" + rig.router.adminPort() + "/admin/explain");
      HttpRequest asked =
          HttpRequest.newBuilder(uri).POST(HttpRequest.BodyPublishers.ofString(CHAT)).build();
      assertThat(new String(rig.send(asked).body(), UTF_8))
          .contains("\"prompt\":{\"exact\":true,\"tokens\":3}");
    }
  }

  @Test
  void aClosedRenderIsRememberedAndTokenizeAskedInstead() throws Exception {
    Engine engine = new Engine();
    engine.answers.put(RENDER, 403);
    engine.answers.put("/tokenize", "{\"tokens\":[1,2,3],\"count\":3}");
    try (Rig rig = rig(engine)) {
      rig.chat(CHAT);
      rig.chat(CHAT.replace("\"a\"", "\"b\""));
      assertThat(engine.asked(RENDER)).isEqualTo(1);
      assertThat(engine.asked("/tokenize")).isEqualTo(2);
      rig.chat(CHAT.replace("\"m\"", "\"m\",\"documents\":[]"));
      assertThat(engine.asked("/tokenize")).isEqualTo(2);
      assertThat(scrape(rig))
          .contains(
              "warmpath_remote_prompts_total{outcome=\"not_offered\",source=\"render\"} 1.0",
              "warmpath_remote_prompts_total{outcome=\"ok\",source=\"tokenize\"} 2.0",
              "warmpath_remote_prompts_total{outcome=\"not_usable\",source=\"tokenize\"} 1.0",
              "warmpath_fallbacks_total{cause=\"request_template\"} 1.0");
    }
  }

  @Test
  void aChatOfGptOssIsNotBelievedToTokenize() throws Exception {
    Engine engine = new Engine();
    engine.answers.put(RENDER, 403);
    engine.answers.put("/tokenize", "{\"tokens\":[200006,17360,200008],\"count\":3}");
    try (Rig rig = rig(engine)) {
      assertThat(rig.chat(CHAT).statusCode()).isEqualTo(200);
      assertThat(engine.asked("/tokenize")).isEqualTo(1);
      assertThat(scrape(rig))
          .contains(
              "warmpath_remote_prompts_total{outcome=\"not_usable\",source=\"tokenize\"} 1.0",
              "warmpath_fallbacks_total{cause=\"request_template\"} 1.0");
    }
  }

  @Test
  void withoutAnAnswerTheRequestIsRoutedOnLoad() throws Exception {
    Engine engine = new Engine();
    engine.answers.put(RENDER, "{\"token_ids\":[1],\"features\":{}}");
    engine.answers.put("/tokenize", "[]");
    try (Rig rig = rig(engine, Clock.systemUTC(), 3_000)) {
      assertThat(rig.chat(CHAT).statusCode()).isEqualTo(200);
      engine.answers.remove(RENDER);
      engine.answers.remove("/tokenize");
      assertThat(rig.chat(CHAT).statusCode()).isEqualTo(200);
      assertThat(scrape(rig))
          .contains(
              "warmpath_remote_prompts_total{outcome=\"not_usable\",source=\"render\"} 1.0",
              "warmpath_remote_prompts_total{outcome=\"timeout\",source=\"render\"} 1.0",
              "warmpath_fallbacks_total{cause=\"request_template\"}");
    }
  }

  @Test
  void whatCanBeRenderedHereAsksNobody() throws Exception {
    Engine engine = new Engine();
    try (Rig rig = rig(engine)) {
      rig.chat(CHAT.replace("\"chat_template\":\"x\",", ""));
      rig.chat("nonsense");
      assertThat(engine.asked(RENDER) + engine.asked("/tokenize")).isZero();
    }
  }

  @Test
  void aGateClosesAfterFailuresInARowAndOpensAgain() {
    AtomicLong now = new AtomicLong(Long.MAX_VALUE - 5);
    RemotePrompts.Gate gate = new RemotePrompts.Gate(now::get);
    for (int i = 0; i < 4; i++) {
      gate.failed();
    }
    gate.answered();
    for (int i = 0; i < 4; i++) {
      gate.failed();
    }
    assertThat(gate.allows()).isTrue();
    gate.failed();
    assertThat(gate.allows()).isFalse();
    now.addAndGet(TimeUnit.SECONDS.toNanos(30));
    assertThat(gate.allows()).isTrue();
    gate.failed();
    assertThat(gate.allows()).isFalse();
    now.addAndGet(TimeUnit.SECONDS.toNanos(30));
    gate.notOffered();
    now.addAndGet(TimeUnit.SECONDS.toNanos(599));
    assertThat(gate.allows()).isFalse();
    now.addAndGet(TimeUnit.SECONDS.toNanos(1));
    assertThat(gate.allows()).isTrue();
  }

  @Test
  void theMemoryForgetsWhatWasAskedForLeastRecently() {
    RemotePrompts.PromptCache cache = new RemotePrompts.PromptCache(600);
    BigInteger[] keys = new BigInteger[3];
    for (int i = 0; i < 3; i++) {
      keys[i] = RemotePrompts.PromptCache.key("/p", DAY, new byte[] {(byte) i});
    }
    cache.put(keys[0], new int[10]);
    cache.put(keys[0], new int[20]);
    cache.put(keys[1], new int[20]);
    assertThat(cache.share()).isEqualTo(0.8);
    assertThat(cache.get(keys[0])).hasSize(20);
    cache.put(keys[2], new int[20]);
    assertThat(cache.get(keys[1])).isNull();
    assertThat(cache.get(keys[0])).isNotNull();
    cache.put(keys[1], new int[1000]);
    assertThat(cache.share()).isZero();
    assertThat(RemotePrompts.PromptCache.key("/p", DAY, new byte[0]))
        .isNotEqualTo(RemotePrompts.PromptCache.key("/q", DAY, new byte[0]));
  }

  private static Rig rig(Engine engine) {
    return rig(engine, Clock.systemUTC(), 60_000);
  }

  private static Rig rig(Engine engine, Clock clock, int deadlineMillis) {
    return new Rig(
        1,
        tree ->
            tree.set("tokenizing.remote", "when-needed", "test")
                .set("tokenizing.deadline-ms", deadlineMillis, "test")
                .put(
                    "models",
                    Map.of("name", "m", "tokenizer", "embedded", "time-zone", "Europe/Berlin"),
                    "test"),
        1,
        engine,
        new Environment(clock, System::nanoTime, new Random(1), null));
  }

  private static String scrape(Rig rig) throws Exception {
    return new String(rig.admin("/metrics").body(), UTF_8);
  }
}
