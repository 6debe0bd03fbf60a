package dev.warmpath.router.config;

import dev.warmpath.router.config.read.AdvancedKey;
import dev.warmpath.router.config.read.Key;
import dev.warmpath.router.routing.policy.Policies;
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
    @Key("required | | Name in requests.") String name,
    @Key(
            "required | | Directory of tokenizer files, a `tokenizer.json`,"
                + " `hf://ORGANISATION/NAME[@REVISION]` (downloaded unless in Hugging Face's"
                + " cache), or `embedded`.")
        String tokenizer,
    @Key(" | | Other names in requests; its engines must serve them too (`--served-model-name`).")
        List<String> aliases,
    @Key(" | | Its policy; none: `policy.name`.") @Nullable String policy,
    @AdvancedKey(
            " | | [Options](policies.md#options) of `policy`, as `{stay-factor: 3}`; others have"
                + " their defaults.")
        Map<String, Double> policyOptions,
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
      @Key(" | | File of the engines' `--chat-template`; none: the model's own.")
          @Nullable String chatTemplate,
      @Key(" | | Quoted JSON object: engines' `--default-chat-template-kwargs`.")
          @Nullable String chatTemplateKwargs,
      @Key(
              " | | Quoted JSON object: engines' `--reasoning-effort-map` (vLLM 0.33), as"
                  + " `'{\"medium\": \"low\"}'`.")
          @Nullable String reasoningEffortMap,
      @Key("auto | auto, string, openai | Engines' `--chat-template-content-format`.")
          String contentFormat,
      @AdvancedKey("false | | Engines' `--exclude-tools-when-tool-choice-none`.")
          boolean excludeToolsWhenNone,
      @AdvancedKey(
              "false | | Engines' `--trust-request-chat-template`: render with the request's"
                  + " template.")
          boolean trustRequestTemplate,
      @AdvancedKey(
              " | | Engines' time zone, such as `Europe/Berlin`, for dates in prompts; none: this"
                  + " machine's.")
          @Nullable String timeZone,
      @AdvancedKey(" | | gpt-oss: engines' `VLLM_SYSTEM_START_DATE`; none: the current date.")
          @Nullable String startDate,
      @AdvancedKey("false | | gpt-oss: engines' `VLLM_GPT_OSS_HARMONY_SYSTEM_INSTRUCTIONS`.")
          boolean harmonySystemInstructions,
      @AdvancedKey(
              "0 | 0 … 100000000 | Engines' `--max-model-len`, for `truncate_prompt_tokens: -1`; 0:"
                  + " such requests are routed by load.")
          int maxModelLen) {

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
