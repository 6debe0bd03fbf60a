package dev.warmpath.tokenizer.image;

import dev.warmpath.kvindex.block.ImageForm;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * One image of a prompt: where it stands among the tokens, and how it is named.
 *
 * @param from its first token
 * @param lengthTokens how many tokens stand for it; 0 if that is not known, then one of the
 *     prompt's stands for all
 * @param pad the token of which all of it are, −1 if that is not known
 * @param uuid the client's name for it, which the engine takes as it is; or null
 * @param identifiers what engines call it, by how they name images; computed from its bytes
 * @param hasFixedRun whether every image of the model has the same tokens, and no engine said
 *     otherwise
 * @param learned what engines were seen to make of it, or may show
 */
public record PromptImage(
    int from,
    int lengthTokens,
    int pad,
    @Nullable String uuid,
    Map<ImageForm, String> identifiers,
    boolean hasFixedRun,
    LearnedImages.Image learned) {

  public PromptImage {
    identifiers = Map.copyOf(identifiers);
  }

  /**
   * What an engine calls it; null if that is not known.
   *
   * @param form how the engine names images; null if that is not known, then what engines showed
   *     goes before what is computed, as one that reads images in its own way has no form
   * @param usual how an engine of which nothing is known is taken to name them, or null
   */
  public @Nullable String identifier(@Nullable ImageForm form, @Nullable ImageForm usual) {
    if (uuid != null) {
      return uuid;
    }
    String computed = form == null ? null : identifiers.get(form);
    LearnedImages.Belief belief = learned.belief();
    if (computed == null && belief != null) {
      return belief.identifier();
    }
    return computed == null && usual != null ? identifiers.get(usual) : computed;
  }

  /** Whether its tokens are sure: a rule that looks at an image's size may be another engine's. */
  public boolean isSure() {
    return hasFixedRun;
  }

  /** What an engine must call it that names images in this way; empty for anything. */
  public Set<String> sureNames(@Nullable ImageForm form) {
    String computed = form == null ? null : identifiers.get(form);
    return uuid != null ? Set.of(uuid) : computed != null ? Set.of(computed) : Set.of();
  }

  /**
   * An engine has stored it.
   *
   * @param identifier what it calls it
   * @param run the tokens that stand for it there
   */
  public void shown(String identifier, int[] run) {
    boolean isNamed = identifier.equals(uuid) || identifiers.containsValue(identifier);
    if (isBelieved() || !isNamed || run.length != lengthTokens) {
      learned.learned(identifier, run);
    }
  }

  /** Whether it rests on what engines were seen to make of it. */
  public boolean isBelieved() {
    return learned.belief() != null;
  }

  /** Whether its tokens are known, and a name that it may have. */
  boolean isKnown() {
    return lengthTokens > 0 && (uuid != null || !identifiers.isEmpty() || learned.belief() != null);
  }
}
