//! A provider on this machine: takes one connection at a time, reads whole requests, and writes the bytes a test gives.

use serde_json::Value;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

pub(crate) struct Server(TcpListener);

/// One request, and the connection it came by.
pub(crate) struct Exchange {
    pub(crate) head: String,
    pub(crate) body: Value,
    stream: TcpStream,
}

impl Server {
    pub(crate) async fn start() -> Self {
        Self(TcpListener::bind("127.0.0.1:0").await.unwrap())
    }

    pub(crate) fn base_url(&self) -> String {
        format!("http://{}/v1", self.0.local_addr().unwrap())
    }

    /// Takes the next connection and reads its request.
    pub(crate) async fn request(&self) -> Exchange {
        let (stream, _) = self.0.accept().await.unwrap();
        read_request(stream).await
    }

    /// Takes the next connection and answers its request with `answer`, all bytes as they are.
    pub(crate) async fn answer(&self, answer: &[u8]) -> Exchange {
        let mut exchange = self.request().await;
        exchange.write(answer).await;
        exchange
    }

    /// Whether nobody has connected and waits.
    pub(crate) fn is_quiet(&self) -> bool {
        let accept = std::pin::pin!(self.0.accept());
        futures_util::future::FutureExt::now_or_never(accept).is_none()
    }
}

impl Exchange {
    /// Writes as much as the client takes: it may have seen enough and closed.
    async fn write(&mut self, bytes: &[u8]) {
        let _written = self.stream.write_all(bytes).await;
    }

    /// Reads until the client closes; the bytes that still came.
    pub(crate) async fn rest(mut self) -> usize {
        let mut rest = Vec::new();
        // A reset is an end too: the client closed with bytes of ours unread.
        let _ended = self.stream.read_to_end(&mut rest).await;
        rest.len()
    }
}

async fn read_request(mut stream: TcpStream) -> Exchange {
    let mut bytes = Vec::new();
    let head_end = loop {
        if let Some(at) = bytes.windows(4).position(|window| window == b"\r\n\r\n") {
            break at;
        }
        assert!(
            stream.read_buf(&mut bytes).await.unwrap() > 0,
            "a request has a head"
        );
    };
    let head = String::from_utf8(bytes[..head_end].to_vec()).unwrap();
    let length: usize = header(&head, "content-length").unwrap().parse().unwrap();
    while bytes.len() < head_end + 4 + length {
        assert!(
            stream.read_buf(&mut bytes).await.unwrap() > 0,
            "a request has its body"
        );
    }
    let body = serde_json::from_slice(&bytes[head_end + 4..]).unwrap();
    Exchange { head, body, stream }
}

/// The value of a header of a request.
pub(crate) fn header<'a>(head: &'a str, name: &str) -> Option<&'a str> {
    head.lines()
        .filter_map(|line| line.split_once(": "))
        .find(|(found, _)| found.eq_ignore_ascii_case(name))
        .map(|(_, value)| value)
}

/// A whole HTTP answer.
pub(crate) fn http(status: u16, headers: &[(&str, &str)], body: &str) -> Vec<u8> {
    let headers: String = headers
        .iter()
        .map(|(name, value)| format!("{name}: {value}\r\n"))
        .collect();
    let length = body.len();
    format!("HTTP/1.1 {status} X\r\ncontent-type: application/json\r\n{headers}content-length: {length}\r\n\r\n{body}").into_bytes()
}

/// A good answer with a JSON body.
pub(crate) fn ok(body: &Value) -> Vec<u8> {
    http(200, &[], &body.to_string())
}
