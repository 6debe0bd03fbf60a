package dev.warmpath.router.tokenize;

import dev.warmpath.router.fleet.Replica;
import dev.warmpath.router.tokenize.ParityCheck.Question;
import dev.warmpath.router.tokenize.ParityCheck.Verdict;
import dev.warmpath.router.upstream.EngineHttp;
import dev.warmpath.tokenizer.ModelTokenizer;
import java.time.Duration;
import java.util.EnumMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * How the fixed probes of one model compare with one engine's tokens. It holds no text but that of
 * the probes.
 *
 * <p>Immutable.
 *
 * @param model the model's name in requests
 * @param probes how many came to what
 * @param difference the first one, null if none was seen
 */
public record ProbeComparison(
    String model, Map<ParityResult, Integer> probes, @Nullable TokenDifference difference) {

  public ProbeComparison {
    probes = Map.copyOf(probes);
  }

  /** Asks the engine for all probes, one after another; ends early if it does not answer. */
  public static ProbeComparison of(
      String model, ModelTokenizer tokenizer, Replica replica, EngineHttp http, Duration timeout) {
    ParityCheck check = new ParityCheck(http, timeout);
    Map<ParityResult, Integer> probes = new EnumMap<>(ParityResult.class);
    TokenDifference difference = null;
    for (Question probe : ParityProbes.of(model, tokenizer)) {
      Verdict verdict = check.ask(probe, replica, "probe");
      probes.merge(verdict.result(), 1, Integer::sum);
      difference = difference == null ? verdict.difference() : difference;
      if (verdict.result() == ParityResult.UNAVAILABLE || verdict.result() == ParityResult.ERROR) {
        break;
      }
    }
    return new ProbeComparison(model, probes, difference);
  }

  /** How many probes came to {@code result}. */
  public int count(ParityResult result) {
    return probes.getOrDefault(result, 0);
  }
}
