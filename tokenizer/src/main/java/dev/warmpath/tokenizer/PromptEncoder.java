package dev.warmpath.tokenizer;

import com.fasterxml.jackson.databind.JsonNode;
import dev.warmpath.tokenizer.encode.TextEncoder;
import dev.warmpath.tokenizer.files.ModelFiles;
import java.util.List;
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
  private final List<String> missingTokens;

  private PromptEncoder(TextEncoder encoder, ModelFiles files) {
    this.encoder = encoder;
    this.addsByFile = !replacesPostProcessor(files) && files.tokenizer().hasPostProcessor();
    this.before = added(files, encoder, "add_bos_token", "bos_token");
    this.after = added(files, encoder, "add_eos_token", "eos_token");
    this.missingTokens =
        files.configuredTokens().stream()
            .filter(token -> encoder.encode(token, false).length != 1)
            .toList();
  }

  /** The encoder for these files; it owns {@code encoder}. */
  static PromptEncoder of(ModelFiles files, TextEncoder encoder) {
    return new PromptEncoder(encoder, files);
  }

  /**
   * Whether {@code text} is free of tokens that {@code tokenizer_config.json} adds and {@code
   * tokenizer.json} does not have; the ids that the engine gives those are not known here.
   */
  boolean knowsAllTokensOf(String text) {
    return missingTokens.stream().noneMatch(text::contains);
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

  private static boolean replacesPostProcessor(ModelFiles files) {
    return files.config().has("add_bos_token") || files.config().has("add_eos_token");
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
