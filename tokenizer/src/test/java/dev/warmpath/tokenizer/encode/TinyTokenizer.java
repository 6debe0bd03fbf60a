package dev.warmpath.tokenizer.encode;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.LinkedHashSet;
import java.util.Set;

/** Builds small {@code tokenizer.json} files by hand. */
public final class TinyTokenizer {

  public static final String GPT2 =
      "{'type':'ByteLevel','add_prefix_space':false,'trim_offsets':true,'use_regex':true}";
  public static final String LLAMA3 =
      "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}{1,3}"
          + "| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+";
  public static final String O200K =
      "[^\\r\\n\\p{L}\\p{N}]?[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]*[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]+"
          + "(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
          + "|[^\\r\\n\\p{L}\\p{N}]?[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]+[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]*"
          + "(?i:'s|'t|'re|'ve|'m|'ll|'d)?|\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n/]*"
          + "|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+";
  public static final String TEKKEN =
      O200K.replace("(?i:'s|'t|'re|'ve|'m|'ll|'d)?", "").replace("{1,3}", "");
  public static final String QWEN35 =
      "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?[\\p{L}\\p{M}]+|\\p{N}"
          + "| ?[^\\s\\p{L}\\p{M}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+";
  public static final String BLANKS =
      "{'type':'Replace','pattern':{'String':' '},'content':'\u2581'}";
  public static final String PREPEND = "{'type':'Prepend','prepend':'\u2581'}";

  private static final ObjectMapper MAPPER = new ObjectMapper();

  private final ObjectNode file = MAPPER.createObjectNode();
  private final ArrayNode added = MAPPER.createArrayNode();
  private final ObjectNode model = MAPPER.createObjectNode();

  private TinyTokenizer() {
    file.put("version", "1.0");
    file.set("added_tokens", added);
    file.putNull("normalizer");
    file.putNull("pre_tokenizer");
    file.putNull("post_processor");
    file.putNull("decoder");
    file.set("model", model);
  }

  /** Byte pairs over bytes; merges are written {@code "a b"} with the letters of the bytes. */
  public static TinyTokenizer byteLevel(String... merges) {
    TinyTokenizer tiny = new TinyTokenizer();
    Set<String> tokens = new LinkedHashSet<>();
    for (int b = 0; b < 256; b++) {
      boolean printable = (b >= '!' && b <= '~') || (b >= 0xa1 && b != 0xad);
      tokens.add(String.valueOf((char) b));
      tokens.add(String.valueOf((char) (printable ? b : 0x100 + tokens.size())));
    }
    for (char c = 0x100; c < 0x144; c++) {
      tokens.add(String.valueOf(c));
    }
    return tiny.bytePairs(tokens, merges);
  }

  /** Byte pairs over characters, with U+2581 for the blank and bytes for what is unknown. */
  public static TinyTokenizer blanks(String... merges) {
    TinyTokenizer tiny = new TinyTokenizer();
    Set<String> tokens = new LinkedHashSet<>();
    tokens.add("<unk>");
    for (int b = 0; b < 256; b++) {
      tokens.add("<0x%02X>".formatted(b));
    }
    for (char c = '!'; c <= '~'; c++) {
      tokens.add(String.valueOf(c));
    }
    tokens.add("\u2581");
    tiny.bytePairs(tokens, merges);
    tiny.model.put("unk_token", "<unk>").put("fuse_unk", true).put("byte_fallback", true);
    return tiny;
  }

  /** A unigram model of these pieces; the earlier ones are likelier. */
  public static TinyTokenizer unigram(String... pieces) {
    TinyTokenizer tiny = new TinyTokenizer();
    tiny.model.put("type", "Unigram").put("unk_id", 0).put("byte_fallback", false);
    ArrayNode vocab = tiny.model.putArray("vocab");
    vocab.addArray().add("<unk>").add(0.0);
    for (int i = 0; i < pieces.length; i++) {
      vocab.addArray().add(pieces[i]).add(-1.0 - i);
    }
    return tiny;
  }

  private TinyTokenizer bytePairs(Set<String> tokens, String... merges) {
    model.put("type", "BPE");
    ArrayNode list = model.putArray("merges");
    for (String merge : merges) {
      list.add(merge);
      tokens.add(merge.replace(" ", ""));
    }
    ObjectNode vocab = model.putObject("vocab");
    tokens.forEach(token -> vocab.put(token, vocab.size()));
    return this;
  }

  /** Adds a token that is looked for in the text as given. */
  public TinyTokenizer token(String content) {
    return token(content, "");
  }

  /** Adds a token with one of its flags set, or none. */
  public TinyTokenizer token(String content, String flag) {
    ObjectNode token = added.addObject().put("id", idOf(content)).put("content", content);
    for (String name : new String[] {"single_word", "lstrip", "rstrip", "normalized"}) {
      token.put(name, name.equals(flag));
    }
    token.put("special", true);
    return this;
  }

  /** The id that the library gives, whatever the file says: that of the model, or the next. */
  private int idOf(String content) {
    JsonNode known = model.path("vocab").path(content);
    if (known.isInt()) {
      return known.intValue();
    }
    int next = model.path("vocab").size();
    for (JsonNode token : added) {
      next = Math.max(next, token.path("id").asInt() + 1);
    }
    return next;
  }

  /** The normalizers in order, in JSON with single quotes. */
  public TinyTokenizer normalize(String... normalizers) {
    ObjectNode sequence = file.putObject("normalizer").put("type", "Sequence");
    ArrayNode steps = sequence.putArray("normalizers");
    for (String normalizer : normalizers) {
      steps.add(parse(normalizer));
    }
    return this;
  }

  /** The pre-tokenizer, in JSON with single quotes. */
  public TinyTokenizer split(String preTokenizer) {
    file.set("pre_tokenizer", parse(preTokenizer));
    return this;
  }

  /** Splits by these patterns, then into bytes. */
  public TinyTokenizer splitByPatterns(String... patterns) {
    ObjectNode sequence = file.putObject("pre_tokenizer").put("type", "Sequence");
    ArrayNode steps = sequence.putArray("pretokenizers");
    for (String pattern : patterns) {
      ObjectNode step = steps.addObject().put("type", "Split");
      step.putObject("pattern").put("Regex", pattern);
      step.put("behavior", "Isolated").put("invert", false);
    }
    steps.add(parse(GPT2.replace("'use_regex':true", "'use_regex':false")));
    return this;
  }

  /** Its patterns are written the other way round: what they do not find is removed. */
  public TinyTokenizer inverted() {
    for (JsonNode step : file.path("pre_tokenizer").path("pretokenizers")) {
      if (step.has("invert")) {
        ((ObjectNode) step).put("behavior", "Removed").put("invert", true);
      }
    }
    return this;
  }

  /** Splits digits from the rest, each alone or together, then by GPT-2's pattern. */
  public TinyTokenizer splitDigits(boolean eachAlone) {
    return split(
        "{'type':'Sequence','pretokenizers':[{'type':'Digits','individual_digits':%s},%s]}"
            .formatted(eachAlone, GPT2));
  }

  /** A Metaspace with this scheme. */
  public TinyTokenizer metaspace(String scheme, boolean split) {
    return split(
        "{'type':'Metaspace','replacement':'\u2581','prepend_scheme':'%s','split':%s}"
            .formatted(scheme, split));
  }

  /** What is put around a text when special tokens are asked for. */
  public TinyTokenizer around(String postProcessor) {
    file.set("post_processor", parse(postProcessor));
    return this;
  }

  public String json() {
    return file.toString();
  }

  private static JsonNode parse(String json) {
    try {
      return MAPPER.readTree(json.replace('\'', '"'));
    } catch (JsonProcessingException e) {
      throw new IllegalArgumentException(e);
    }
  }
}
