package dev.warmpath.lab.tokens;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.warmpath.kvindex.block.BlockChain;
import dev.warmpath.kvindex.block.ChainSpace;
import dev.warmpath.kvindex.block.PromptKeys;
import dev.warmpath.router.prompt.BodyParser;
import dev.warmpath.tokenizer.chat.ChatTexts;
import dev.warmpath.tokenizer.encode.EncodedText;
import dev.warmpath.tokenizer.encode.IncrementalEncoder;
import java.io.IOException;
import java.util.Arrays;
import java.util.Objects;
import java.util.function.LongSupplier;

/**
 * What a tokenizer thread of the router does with a chat, each step by its CPU time; and the same
 * done plainly, whole each time.
 *
 * <p>Confined to one thread.
 */
final class Pipeline {

  private static final ObjectMapper MAPPER = new ObjectMapper();
  private static final ChainSpace SPACE = new ChainSpace("m", 16, 0);

  private static final int DEPTH_LIMIT = 64;

  private final ChatTexts renderer;
  private final LongSupplier cpuNanos;
  private final long bodyBytes;
  private IncrementalEncoder encoder;
  private BodyParser bodies;

  /** CPU times by step. */
  static final class Took {
    final TokenizeBench.Samples parse = new TokenizeBench.Samples();
    final TokenizeBench.Samples render = new TokenizeBench.Samples();
    final TokenizeBench.Samples encode = new TokenizeBench.Samples();
    final TokenizeBench.Samples hash = new TokenizeBench.Samples();
    final TokenizeBench.Samples all = new TokenizeBench.Samples();
    final TokenizeBench.Samples whole = new TokenizeBench.Samples();
    int mismatches;
    int tokens;
  }

  /**
   * @param bodyBytes what may be remembered of bodies
   */
  Pipeline(ChatTexts renderer, IncrementalEncoder encoder, long bodyBytes, LongSupplier cpuNanos) {
    this.bodyBytes = bodyBytes;
    this.bodies = new BodyParser(DEPTH_LIMIT, bodyBytes);
    this.renderer = renderer;
    this.encoder = encoder;
    this.cpuNanos = cpuNanos;
  }

  /** Forgets all bodies and texts. */
  void forget() {
    encoder = encoder.forgetful();
    bodies = new BodyParser(DEPTH_LIMIT, bodyBytes);
  }

  /** Reads the request {@code body} and notes what it took. */
  void read(byte[] body, Took took) {
    long start = cpuNanos.getAsLong();
    ObjectNode request = (ObjectNode) parsed(body);
    long parsed = cpuNanos.getAsLong();
    String text = renderer.render(request);
    long rendered = cpuNanos.getAsLong();
    EncodedText encoded = encode(text);
    long encodedAt = cpuNanos.getAsLong();
    BlockChain chain = encoded.chain(SPACE, PromptKeys.NONE);
    long end = cpuNanos.getAsLong();
    took.parse.add(parsed - start);
    took.render.add(rendered - parsed);
    took.encode.add(encodedAt - rendered);
    took.hash.add(end - encodedAt);
    took.all.add(end - start);
    took.tokens = encoded.count();
    took.mismatches += chain.promptTokens() == took.tokens ? 0 : 1;
  }

  /** Does it plainly: renders, encodes the text whole and hashes all blocks; then compares. */
  void readWhole(byte[] body, Took took) {
    ObjectNode request = parse(body);
    long start = cpuNanos.getAsLong();
    String text = renderer.render(request);
    int[] ids = encodeWhole(text);
    BlockChain chain = BlockChain.of(SPACE, ids, PromptKeys.NONE);
    took.whole.add(cpuNanos.getAsLong() - start);
    EncodedText encoded = encode(text);
    boolean same =
        Arrays.equals(ids, encoded.tokenIds())
            && same(chain, encoded.chain(SPACE, PromptKeys.NONE));
    took.mismatches += same ? 0 : 1;
  }

  /** Encodes a text that is not known, and the same whole. */
  void encodeCold(String text, Took took) {
    forget();
    long start = cpuNanos.getAsLong();
    int[] ids = encode(text).tokenIds();
    long cold = cpuNanos.getAsLong();
    int[] whole = encoder.whole().encode(text, false);
    took.whole.add(cpuNanos.getAsLong() - cold);
    took.all.add(cold - start);
    took.tokens = ids.length;
    took.mismatches += Arrays.equals(ids, whole) ? 0 : 1;
  }

  /** Renders only. */
  void renderOnly(byte[] body, int warmUps, int times, TokenizeBench.Samples samples) {
    ObjectNode request = parse(body);
    for (int i = 0; i < warmUps + times; i++) {
      long start = cpuNanos.getAsLong();
      String text = renderer.render(request);
      long nanos = cpuNanos.getAsLong() - start;
      if (i >= warmUps && !text.isEmpty()) {
        samples.add(nanos);
      }
    }
  }

  /** The native library does not know marks: marked texts are cut at them, and nothing is known. */
  private int[] encodeWhole(String text) {
    return renderer.specialIds().length == 0
        ? encoder.whole().encode(text, false)
        : Objects.requireNonNull(encoder.forgetful().encode(text)).tokenIds();
  }

  private EncodedText encode(String text) {
    EncodedText encoded = encoder.encode(text);
    if (encoded == null) {
      throw new IllegalStateException("the workload holds half a surrogate pair");
    }
    return encoded;
  }

  private JsonNode parsed(byte[] body) {
    try {
      return bodies.parse(body);
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
  }

  private static ObjectNode parse(byte[] body) {
    try {
      return (ObjectNode) MAPPER.readTree(body);
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
  }

  private static boolean same(BlockChain one, BlockChain other) {
    boolean same = one.blocks() == other.blocks();
    for (int i = 0; same && i < one.blocks(); i++) {
      same = one.localHash(i) == other.localHash(i);
    }
    return same;
  }
}
