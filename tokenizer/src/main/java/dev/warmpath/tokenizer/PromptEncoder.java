package dev.warmpath.tokenizer;

import com.fasterxml.jackson.databind.JsonNode;
import dev.warmpath.tokenizer.encode.TextEncoder;
import dev.warmpath.tokenizer.files.ModelFiles;
import org.jspecify.annotations.Nullable;

/**
 * Encodes texts as the engine's tokenizer object does, which follows {@code tokenizer_config.json}
 * over {@code tokenizer.json} in what it adds around a text.
 *
 * <p>Thread-safe.
 */
final class PromptEncoder implements AutoCloseable {

  /*
   * add_bos_token and add_eos_token, either of them given, replace the file's post-processor; the
   * one not given counts as false. Without them a file that has a post-processor keeps it, and a
   * file without one adds nothing.
   */
  private static final int[] NOTHING = {};

  private final TextEncoder encoder;
  private final boolean addsByFile;
  private final int[] before;
  private final int[] after;

  private PromptEncoder(TextEncoder encoder, boolean addsByFile, int[] before, int[] after) {
    this.encoder = encoder;
    this.addsByFile = addsByFile;
    this.before = before;
    this.after = after;
  }

  /** The encoder for these files; it owns {@code encoder}. */
  static PromptEncoder of(ModelFiles files, TextEncoder encoder) {
    boolean replaced = files.config().has("add_bos_token") || files.config().has("add_eos_token");
    boolean byFile = !replaced && files.tokenizer().hasPostProcessor();
    int[] before = added(files, encoder, "add_bos_token", "bos_token");
    int[] after = added(files, encoder, "add_eos_token", "eos_token");
    return new PromptEncoder(encoder, byFile, before, after);
  }

  /** Whether anything can stand around a text when special tokens are added. */
  boolean addsSpecialTokens() {
    return before.length + after.length > 0 || (addsByFile && encoder.encode("", true).length > 0);
  }

  int[] encode(String text, boolean addSpecialTokens) {
    if (!addSpecialTokens || addsByFile) {
      return encoder.encode(text, addSpecialTokens);
    }
    int[] ids = encoder.encode(text, false);
    if (before.length + after.length == 0) {
      return ids;
    }
    int[] all = new int[before.length + ids.length + after.length];
    System.arraycopy(before, 0, all, 0, before.length);
    System.arraycopy(ids, 0, all, before.length, ids.length);
    System.arraycopy(after, 0, all, before.length + ids.length, after.length);
    return all;
  }

  String decode(int[] tokenIds) {
    return encoder.decode(tokenIds);
  }

  @Override
  public void close() {
    encoder.close();
  }

  private static int[] added(ModelFiles files, TextEncoder encoder, String flag, String name) {
    JsonNode asked = files.config().path(flag);
    @Nullable String token = files.specialTokens().get(name);
    if (!asked.asBoolean(false) || token == null) {
      return NOTHING;
    }
    return encoder.encode(token, false);
  }
}
