package dev.warmpath.router.doctor;

import dev.warmpath.router.doctor.Checks.Check;
import dev.warmpath.router.doctor.Checks.Findings;
import dev.warmpath.router.doctor.ReplicaFacts.Trial;
import dev.warmpath.router.proxy.Usage;
import dev.warmpath.router.tokenize.ParityResult;
import dev.warmpath.router.tokenize.ProbeComparison;
import dev.warmpath.router.tokenize.TokenDifference;
import java.util.List;
import java.util.stream.Collectors;

/** Whether prompts become the same tokens here and in the engines. */
final class TokensCheck implements Check {

  private static final String REMEDY =
      "let the model's `tokenizer` be the folder that the engine loads, and name its chat template"
          + " options (`chat-template` and the other keys of `models[]`)";

  @Override
  public void look(FleetFacts fleet, Findings into) {
    for (ReplicaFacts replica : fleet.replicas()) {
      replica.comparisons().forEach(comparison -> compare(replica, comparison, into));
      replica.trials().forEach(trial -> judge(replica, trial, into));
    }
  }

  private static void compare(ReplicaFacts replica, ProbeComparison comparison, Findings into) {
    int equal = comparison.count(ParityResult.EQUAL);
    TokenDifference difference = comparison.difference();
    if (difference != null) {
      into.fail(
          replica.name(),
          "%s: token %d of a probe is %s here and %s in the engine"
              .formatted(
                  comparison.model(),
                  difference.index(),
                  token(difference, difference.ourTokens()),
                  token(difference, difference.engineTokens())),
          REMEDY);
    } else if (equal == 0) {
      into.warn(
          replica.name(),
          comparison.model() + ": the engine's /tokenize cannot be asked",
          "let the router reach POST /tokenize, so that it can compare tokens all the time");
    } else {
      into.ok(replica.name(), "%s: %d probes are equal".formatted(comparison.model(), equal));
    }
  }

  /** The token that differs, with its text; both lists begin equally far before it. */
  private static String token(TokenDifference difference, List<TokenDifference.Token> around) {
    List<TokenDifference.Token> equal =
        difference.ourTokens().stream()
            .takeWhile(difference.engineTokens()::contains)
            .collect(Collectors.toList());
    return around.size() > equal.size()
        ? around.get(equal.size()).id() + " '" + around.get(equal.size()).text() + "'"
        : "missing";
  }

  private static void judge(ReplicaFacts replica, Trial trial, Findings into) {
    int told = trial.first().promptTokens();
    if (!trial.isJudged()) {
      return;
    }
    String engine = replica.engine(trial.engine().dpRank());
    if (told != Usage.ABSENT && told != trial.promptTokens()) {
      into.fail(
          engine,
          "a prompt of %d tokens here has %d in the engine".formatted(trial.promptTokens(), told),
          REMEDY);
    } else if (trial.events() && trial.heldBlocks() == 0 && trial.heldBy() == null) {
      into.fail(
          engine,
          "the engine stored other blocks for a prompt than were predicted",
          REMEDY + "; for vLLM to 0.32 with EAGLE or MTP: dialect: vllm-eagle");
    }
  }
}
