package dev.warmpath.simulator.live;

import dev.warmpath.kvindex.block.ExtraKey;
import dev.warmpath.kvindex.block.PromptKeys;
import dev.warmpath.tokenizer.PromptResult.Tokens;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What tells a request's pages apart on SGLang beside its adapter, as the one text for which a
 * simulated request has room, its salt.
 */
record SglangKeys(@Nullable String extraKey, @Nullable String salt) {

  private static final SglangKeys NONE = new SglangKeys(null, null);

  /** The keys of a request. */
  public static PromptKeys of(Tokens prompt) {
    PromptKeys keys = prompt.keys();
    SglangKeys own = new SglangKeys(prompt.extraKey(), keys.cacheSalt());
    return new PromptKeys(keys.loraName(), own.equals(NONE) ? null : own.text());
  }

  /** Those of a prompt's first page. */
  static SglangKeys read(List<ExtraKey> keys) {
    for (ExtraKey key : keys) {
      if (key instanceof ExtraKey.CacheSalt salt) {
        return read(salt.salt());
      }
    }
    return NONE;
  }

  static @Nullable String lora(List<ExtraKey> keys) {
    for (ExtraKey key : keys) {
      if (key instanceof ExtraKey.Lora lora) {
        return lora.name();
      }
    }
    return null;
  }

  /** The length of the first, whether there is a second, and both. */
  private String text() {
    return (extraKey == null ? "-" : extraKey.length() + "")
        + (salt == null ? "-" : "+")
        + (extraKey == null ? "" : extraKey)
        + (salt == null ? "" : salt);
  }

  private static SglangKeys read(String text) {
    int mark = text.startsWith("-") ? 1 : firstMark(text);
    int from = mark + 1;
    boolean hasExtraKey = !text.startsWith("-");
    int middle = hasExtraKey ? from + Integer.parseInt(text.substring(0, mark)) : from;
    return new SglangKeys(
        hasExtraKey ? text.substring(from, middle) : null,
        text.charAt(mark) == '+' ? text.substring(middle) : null);
  }

  private static int firstMark(String text) {
    int at = 0;
    while (Character.isDigit(text.charAt(at))) {
      at++;
    }
    return at;
  }
}
