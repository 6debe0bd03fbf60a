package dev.warmpath.router.config;

import dev.warmpath.router.routing.Policies;
import java.time.DateTimeException;
import java.time.ZoneId;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A model and where its tokenizer is: a path or {@code embedded}.
 *
 * <p>Immutable.
 */
public record ModelConfig(
    @Key(required = true) String name,
    @Key(required = true) String tokenizer,
    @Key List<String> aliases,
    @Key @Nullable String policy,
    @Key(advanced = true) Map<String, Double> policyOptions,
    Rendering rendering) {

  public ModelConfig {
    aliases = List.copyOf(aliases);
    policyOptions = Map.copyOf(policyOptions);
    if (policy != null) {
      Policies.named(policy, policyOptions);
    } else if (!policyOptions.isEmpty()) {
      throw new IllegalArgumentException("'policy-options' need 'policy'");
    }
  }

  /** Whether the other is this model with the same policy. */
  public boolean hasPolicyOf(ModelConfig other) {
    return name.equals(other.name)
        && Objects.equals(policy, other.policy)
        && policyOptions.equals(other.policyOptions);
  }

  /** A model whose engines were started without any option about prompts. */
  public ModelConfig(String name, String tokenizer) {
    this(name, tokenizer, List.of(), null, Map.of(), Rendering.DEFAULT);
  }

  /** How a model's engines were started, as far as that changes their prompts. */
  public record Rendering(
      @Key @Nullable String chatTemplate,
      @Key @Nullable String chatTemplateKwargs,
      @Key @Nullable String reasoningEffortMap,
      @Key(
              defaultValue = "auto",
              choices = {"auto", "string", "openai"})
          String contentFormat,
      @Key(defaultValue = "false", advanced = true) boolean excludeToolsWhenNone,
      @Key(defaultValue = "false", advanced = true) boolean trustRequestTemplate,
      @Key(advanced = true) @Nullable String timeZone,
      @Key(advanced = true) @Nullable String startDate,
      @Key(defaultValue = "false", advanced = true) boolean harmonySystemInstructions,
      @Key(defaultValue = "0", max = 100_000_000, advanced = true) int maxModelLen) {

    static final Rendering DEFAULT =
        new Rendering(null, null, null, "auto", false, false, null, null, false, 0);

    public Rendering {
      if (timeZone != null) {
        checkZone(timeZone);
      }
    }

    private static void checkZone(String zone) {
      try {
        ZoneId.of(zone);
      } catch (DateTimeException e) {
        throw new IllegalArgumentException("'time-zone' is unknown: '" + zone + "'", e);
      }
    }
  }
}
