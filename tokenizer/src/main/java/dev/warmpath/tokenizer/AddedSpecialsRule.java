package dev.warmpath.tokenizer;

import com.fasterxml.jackson.databind.JsonNode;
import dev.warmpath.tokenizer.chat.ChatOptions.Dialect;
import dev.warmpath.tokenizer.encode.AddedSpecials;
import dev.warmpath.tokenizer.encode.TextEncoder;
import dev.warmpath.tokenizer.files.ModelFiles;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Which special tokens an engine adds to the text of a completion.
 *
 * <p>transformers 5 ignores {@code add_bos_token} and {@code add_eos_token} of {@code
 * tokenizer_config.json} beside a {@code tokenizer.json}: the post-processor of that file decides,
 * and without one nothing is added. SGLang 0.5.23 obeys {@code add_bos_token} again for some
 * classes.
 *
 * @param isKnown false if the engines of the model add different tokens
 * @param tokens null if they are not the same for every text
 */
record AddedSpecialsRule(boolean isKnown, @Nullable AddedSpecials tokens) {

  /** For these the flag counts in SGLang, and is true where it is not given. */
  private static final Set<String> BOS_BY_FLAG =
      Set.of(
          "LlamaTokenizer",
          "LlamaTokenizerFast",
          "CodeLlamaTokenizer",
          "CodeLlamaTokenizerFast",
          "GemmaTokenizer",
          "GemmaTokenizerFast",
          "CohereTokenizerFast");

  static AddedSpecialsRule of(ModelFiles files, Dialect dialect, TextEncoder encoder) {
    AddedSpecials ofFile =
        files.tokenizer().hasPostProcessor() ? AddedSpecials.of(encoder) : AddedSpecials.NONE;
    if (dialect == Dialect.VLLM || !addsBosByFlag(files)) {
      return new AddedSpecialsRule(true, ofFile);
    }
    AddedSpecials bos = bos(files, encoder);
    boolean agree = ofFile != null && ofFile.equals(bos);
    return new AddedSpecialsRule(dialect == Dialect.SGLANG || agree, bos);
  }

  private static boolean addsBosByFlag(ModelFiles files) {
    JsonNode flag = files.config().path("add_bos_token");
    boolean obeyed = BOS_BY_FLAG.contains(files.config().path("tokenizer_class").asText());
    return obeyed && flag.asBoolean(true);
  }

  private static AddedSpecials bos(ModelFiles files, TextEncoder encoder) {
    @Nullable String bos = files.specialTokens().get("bos_token");
    return bos == null
        ? AddedSpecials.NONE
        : new AddedSpecials(encoder.encode(bos, false), new int[0]);
  }
}
