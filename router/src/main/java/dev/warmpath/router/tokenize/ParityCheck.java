package dev.warmpath.router.tokenize;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.warmpath.router.fleet.Replica;
import dev.warmpath.router.upstream.EngineClient.Answer;
import dev.warmpath.router.upstream.EngineHttp;
import dev.warmpath.tokenizer.ModelTokenizer;
import dev.warmpath.tokenizer.PromptResult.Tokens;
import dev.warmpath.tokenizer.RequestKind;
import java.io.IOException;
import java.time.Duration;
import java.util.Arrays;
import java.util.Set;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * Asks one engine for the tokens of a prompt and compares them with ours. Blocks.
 *
 * <p>Thread-safe.
 */
final class ParityCheck {

  private static final Set<Integer> NOT_OFFERED = Set.of(401, 403, 404, 405, 501);

  /** A prompt and who cuts it here. Immutable, if nobody changes the node. */
  record Question(ModelTokenizer tokenizer, RequestKind kind, ObjectNode request) {

    /** Our tokens; null where the prompt is not known here, has images or is several. */
    int @Nullable [] ours() {
      return tokenizer.prompt(kind, request, null) instanceof Tokens tokens
              && !tokens.hasImages()
              && tokens.sequences().size() == 1
          ? tokens.sequences().get(0)
          : null;
    }
  }

  /**
   * What came of it. Immutable.
   *
   * @param difference with {@link ParityResult#DIFFERENT}, else null
   */
  record Verdict(ParityResult result, @Nullable TokenDifference difference) {

    static Verdict of(ParityResult result) {
      return new Verdict(result, null);
    }
  }

  private static final int OK = 200;

  private final EngineHttp http;
  private final Duration timeout;

  /** Names of replicas whose render routes are closed. */
  private final Set<String> renderClosed = ConcurrentHashMap.newKeySet();

  ParityCheck(EngineHttp http, Duration timeout) {
    this.http = http;
    this.timeout = timeout;
  }

  /** Compares; {@code where} goes into the difference. */
  Verdict ask(Question question, Replica replica, String where) {
    int[] ours = question.ours();
    if (ours == null) {
      return Verdict.of(ParityResult.UNKNOWN);
    }
    try {
      Reply reply = reply(question, replica);
      return reply.tokens() == null
          ? Verdict.of(reply.otherwise())
          : judge(question, ours, reply.tokens(), replica, where);
    } catch (CompletionException | CancellationException | IOException e) {
      return Verdict.of(ParityResult.ERROR);
    }
  }

  /** The engine starts anew: what it did not offer it may offer now. */
  void forget(Replica replica) {
    renderClosed.remove(replica.name());
  }

  /** The engine's tokens, or what came instead of them. Immutable. */
  @SuppressWarnings("ArrayRecordComponent") // read at once, never compared
  private record Reply(int @Nullable [] tokens, ParityResult otherwise) {}

  /** By {@code /tokenize}, which all have; what that cuts otherwise, by the render routes. */
  private Reply reply(Question question, Replica replica) throws IOException {
    ObjectNode request = question.request();
    boolean inCode = question.tokenizer().rendersInCode(question.kind());
    if (!inCode && TokenizeCall.fits(question.kind(), request)) {
      Answer answer = post(replica, TokenizeCall.PATH, TokenizeCall.body(request));
      if (answer.status() != OK) {
        return new Reply(null, ofStatus(answer.status()));
      }
      int[] ids = TokenizeCall.tokenIds(answer.body());
      if (ids == null || TokenizeCall.isTrusted(question.kind(), ids)) {
        return new Reply(ids, ParityResult.ERROR);
      }
    }
    return rendered(question, replica);
  }

  private Reply rendered(Question question, Replica replica) throws IOException {
    String path = RenderCall.path(question.kind());
    if (path == null || renderClosed.contains(replica.name())) {
      return new Reply(null, ParityResult.UNKNOWN);
    }
    Answer answer = post(replica, path, RenderCall.body(question.request()));
    if (NOT_OFFERED.contains(answer.status())) {
      renderClosed.add(replica.name());
      return new Reply(null, ParityResult.UNKNOWN);
    }
    return answer.status() == OK
        ? new Reply(RenderCall.tokenIds(answer.body()), ParityResult.UNKNOWN)
        : new Reply(null, ofStatus(answer.status()));
  }

  private Answer post(Replica replica, String path, byte[] body) {
    return http.post(replica, path, body, timeout).join();
  }

  private static Verdict judge(
      Question question, int[] ours, int[] theirs, Replica replica, String where) {
    if (Arrays.equals(ours, theirs)) {
      return Verdict.of(ParityResult.EQUAL);
    }
    return new Verdict(
        ParityResult.DIFFERENT,
        TokenDifference.of(replica.name(), where, ours, theirs, question.tokenizer()));
  }

  private static ParityResult ofStatus(int status) {
    if (NOT_OFFERED.contains(status)) {
      return ParityResult.UNAVAILABLE;
    }
    return status == 400 || status == 422 ? ParityResult.UNKNOWN : ParityResult.ERROR;
  }
}
