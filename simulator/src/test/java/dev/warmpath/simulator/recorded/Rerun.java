package dev.warmpath.simulator.recorded;

import dev.warmpath.eventingest.capture.CaptureRecord;
import dev.warmpath.eventingest.capture.CaptureRecord.Events;
import dev.warmpath.eventingest.capture.CaptureRecord.Mark;
import dev.warmpath.eventingest.capture.CaptureRecord.Request;
import dev.warmpath.eventingest.capture.CaptureRecord.Response;
import dev.warmpath.simulator.engine.EngineConfig;
import dev.warmpath.simulator.engine.TestEngines;
import dev.warmpath.simulator.live.TokenEngine;
import dev.warmpath.simulator.live.TokenEngine.StepResult;
import dev.warmpath.simulator.live.TokenRequest;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;

/**
 * Sends the requests of a capture to a simulated engine, in recorded order.
 *
 * <p>Time is what the record shows of it: the simulated engine takes steps until it has published
 * as many batches, and answered as many requests, as the real one had at that point.
 *
 * <p>Confined to its test.
 */
final class Rerun {

  private static final int UNKNOWN = -1;

  private final RecordedEngine recorded;
  private final EngineConfig config;
  private final Map<String, Integer> cachedTokens = new HashMap<>();
  private final Set<String> open = new HashSet<>();
  private TokenEngine engine;
  private int published;
  private int unknown = UNKNOWN;

  private Rerun(RecordedEngine recorded, EngineConfig config) {
    this.recorded = recorded;
    this.config = config;
    engine = new TokenEngine(config, TestEngines.HASHING);
  }

  /** The cached tokens of each request that was begun, by its id. */
  static Map<String, Integer> cachedTokens(RecordedEngine recorded, EngineConfig config) {
    Rerun rerun = new Rerun(recorded, config);
    recorded.records.forEach(rerun::take);
    return rerun.cachedTokens;
  }

  private void take(CaptureRecord record) {
    if (record instanceof Mark mark) {
      take(mark);
    } else if (record instanceof Request request) {
      submit(recorded.requests.get(request.requestId()));
    } else if (record instanceof Response response) {
      end(recorded.requests.get(response.requestId()));
    } else if (record instanceof Events) {
      published--;
      while (published < 0 && !engine.idle()) {
        step();
      }
    }
  }

  private void take(Mark mark) {
    switch (mark.name()) {
      case "engine-started" -> {
        engine = new TokenEngine(config, TestEngines.HASHING);
        open.clear();
      }
      case "prefix-cache-reset", "flush-asked" -> engine.resetPrefixCache();
      case "quiescent" -> {
        finish();
        published = 0;
      }
      default -> {}
    }
  }

  private void submit(RecordedRequest request) {
    int[] prompt = request.prompt();
    int room = config.maxModelTokens() - prompt.length;
    int answerTokens = Math.min(room, request.answerTokens());
    if (answerTokens < 1) {
      return;
    }
    int[] answer = recorded.stored.answer(request, answerTokens, unknown--);
    String id = request.id();
    engine.submit(new TokenRequest(id, prompt, answer, request.keys(), request.readsCache()));
    open.add(id);
  }

  private void end(RecordedRequest request) {
    String id = request.id();
    while (request.answered() && open.contains(id)) {
      step();
    }
    if (open.remove(id)) {
      engine.abort(id);
    }
  }

  private void finish() {
    while (!engine.idle()) {
      step();
    }
  }

  private void step() {
    engine.beginStep();
    StepResult result = engine.endStep();
    published += result.events().isEmpty() ? 0 : 1;
    for (StepResult.Token token : result.tokens()) {
      cachedTokens.put(token.requestId(), token.cachedTokens());
      if (token.last()) {
        open.remove(token.requestId());
      }
    }
  }
}
